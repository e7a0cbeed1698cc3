"""Golden histories in files: for each server one of histories (lines of JSON, compressed), one of verdicts.

The verdicts stand apart so that a change of them shows in a diff.
"""

import json
import lzma
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from acidtest.codec import decode, encode
from acidtest.model import History

FOLDER = Path(__file__).parent / "histories"
_HISTORIES, _VERDICTS = ".jsonl.xz", ".verdicts"


@dataclass(frozen=True, slots=True)
class Golden:
    """A history by the name it has on its server, such as `g0-dirty-write@RC`."""

    id: str
    history: History


def servers() -> list[str]:
    """Those of which histories are kept, by the names of their files."""
    return sorted(path.name.removesuffix(_HISTORIES) for path in FOLDER.glob(f"*{_HISTORIES}"))


def server_name(spec: str) -> str:
    """The name of a server's files."""
    return re.sub(r"[^\w.]+", "-", spec)


@cache
def histories_of(server: str) -> tuple[Golden, ...]:
    """The histories of a server in the order of the file; read once, because nothing can change them."""
    with lzma.open(FOLDER / f"{server}{_HISTORIES}", "rt", encoding="utf-8") as lines:
        return tuple(decode(json.loads(line), Golden) for line in lines)


def verdicts_of(server: str) -> dict[str, str]:
    """What is to be said of each history, by its id; nothing yet of a server that is new."""
    path = FOLDER / f"{server}{_VERDICTS}"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pairs = (line.partition("\t") for line in lines)
    return {name: said for name, _, said in pairs}


def write_histories(server: str, goldens: Iterable[Golden]) -> None:
    """Keep histories."""
    text = "".join(json.dumps(encode(one), separators=(",", ":")) + "\n" for one in goldens)
    data = lzma.compress(text.encode("utf-8"), preset=9 | lzma.PRESET_EXTREME)
    (FOLDER / f"{server}{_HISTORIES}").write_bytes(data)
    histories_of.cache_clear()


def write_verdicts(server: str, verdicts: Mapping[str, str]) -> None:
    """Keep verdicts."""
    text = "".join(f"{name}\t{said}\n" for name, said in verdicts.items())
    (FOLDER / f"{server}{_VERDICTS}").write_text(text, encoding="utf-8")
