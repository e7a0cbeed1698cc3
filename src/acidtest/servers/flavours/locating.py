"""Finding programs and folders in an unpacked tree, whose layout differs from source to source."""

import os
from collections.abc import Sequence
from pathlib import Path

ELF = b"\x7fELF"


def find_program(part: str, names: Sequence[str], tree: Path) -> dict[str, str]:
    """The first compiled program with one of these names, as `{part: path below tree}`; else nothing."""
    for name in names:
        for file in sorted(tree.rglob(name)):
            if file.is_file() and not file.is_symlink() and _is_compiled(file):
                return {part: str(file.relative_to(tree))}
    return {}


def find_folder(part: str, pattern: str, tree: Path, levels_up: int = 1) -> dict[str, str]:
    """The folder above the first file that matches, as `{part: path below tree}`; else nothing."""
    for file in sorted(tree.rglob(pattern)):
        return {part: str(Path(*file.relative_to(tree).parts[:-levels_up]))}
    return {}


def _is_compiled(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(4) == ELF and os.access(file, os.X_OK)
