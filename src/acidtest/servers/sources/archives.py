"""Unpacking tar archives that came from elsewhere: nothing is written outside the folder."""

import lzma
import shutil
import tarfile
import zlib
from pathlib import Path

from acidtest.servers.base import InstallFailedError

DAMAGED = (tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)


def unpack_tar(archive: Path, folder: Path) -> None:
    """Unpack a compressed tar archive and delete it."""
    try:
        with tarfile.open(archive) as content:
            for member in content:
                _unpack_member(content, member, folder)
    except DAMAGED as error:
        raise InstallFailedError(f"the archive {archive.name} is damaged ({error}); try again") from error
    except OSError as error:
        if error.errno is not None:  # the disk's failure, not the archive's
            raise
        raise InstallFailedError(f"the archive {archive.name} is damaged ({error}); try again") from error
    archive.unlink()


def inside(folder: Path, name: str | Path) -> Path:
    """The path of that name in the folder; a name that leads out of it is refused."""
    target = folder / name
    if not target.resolve().is_relative_to(folder.resolve()):
        raise InstallFailedError(f"the archive wants to write outside its folder: {name}")
    return target


def _unpack_member(content: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Files and links to files of the same archive; the rest (devices, owners, times) does not matter."""
    target = inside(folder, member.name)
    if member.issym():
        inside(folder, Path(member.name).parent / member.linkname)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(member.linkname)
    elif member.isfile():
        target.parent.mkdir(parents=True, exist_ok=True)
        data = content.extractfile(member)
        assert data is not None  # it is a file
        with data, target.open("wb") as output:
            shutil.copyfileobj(data, output)
        target.chmod(0o755 if member.mode & 0o100 else 0o644)
