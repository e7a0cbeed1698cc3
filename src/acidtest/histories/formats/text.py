"""Reading large files in pieces of whole lines, and telling what cannot be read."""

import os
from collections.abc import Iterator
from pathlib import Path

from acidtest.errors import UsageError

CHUNK = 4 << 20
_LINE_MAX = 256 << 20
_MAGIC = {
    b"\x1f\x8b": "gzip (gunzip it first)",
    b"\xfd7zXZ": "xz (unxz it first)",
    b"BZh": "bzip2 (bunzip2 it first)",
    b"PK\x03\x04": "a ZIP archive (unzip it first)",
    b"\x28\xb5\x2f\xfd": "zstd (unzstd it first)",
    b"\xff\xfe": "UTF-16 (convert it with iconv -f UTF-16 -t UTF-8)",
    b"\xfe\xff": "UTF-16 (convert it with iconv -f UTF-16 -t UTF-8)",
}
BOM = b"\xef\xbb\xbf"


def head_of(path: Path, size: int) -> bytes:
    """The first bytes of a file, without a byte order mark."""
    try:
        with path.open("rb") as file:
            head = file.read(size)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    for magic, what in _MAGIC.items():
        if head.startswith(magic):
            raise UsageError(f"{path} is {what}")
    return head.removeprefix(BOM)


def chunks(path: Path, size: int = CHUNK) -> Iterator[tuple[int, bytes]]:
    """Pieces of whole lines, each with the number of its first line."""
    line = 1
    rest = b""
    with path.open("rb") as file:
        first = True
        while data := file.read(size):
            if first:
                data, first = data.removeprefix(BOM), False
            cut = data.rfind(b"\n") + 1
            if cut == 0:
                rest += data
                if len(rest) > _LINE_MAX:
                    raise UsageError(
                        f"{path}, line {line} is longer than {_LINE_MAX >> 20} MB: not a history"
                    )
                continue
            piece, rest = rest + data[:cut], data[cut:]
            yield line, piece
            line += piece.count(b"\n")
    if rest:
        yield line, rest


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    if path.is_dir():
        return sum(os.path.getsize(one) for one in path.iterdir() if one.is_file())
    return os.path.getsize(path)
