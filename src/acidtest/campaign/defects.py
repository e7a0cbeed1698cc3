"""Defects of acidtest that a campaign meets: written down for whoever mends them, while it goes on."""

import traceback
from contextlib import suppress
from pathlib import Path

from acidtest.campaign.messages import Defect

FILE = "errors.log"


def defect_at(where: str, error: Exception) -> Defect:
    """An exception that nobody foresaw, as a message."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = traceback.format_exception_only(error)[-1].strip()
    trace = "".join(traceback.format_exception(error))
    return Defect(where, what, f"{Path(last.filename).name}:{last.lineno}", trace)


class DefectLog:
    """Each defect is written with its traceback once; where it showed again, in a line."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._places: set[str] = set()

    def add(self, defect: Defect) -> str | None:
        """Write it down; a sentence for the user if it is a new one."""
        is_new = defect.place not in self._places
        self._places.add(defect.place)
        line = f"{defect.where}: {defect.what} ({defect.place})\n"
        with (
            suppress(OSError),  # the campaign tells of a full disk, if it is one
            self._path.open("a", encoding="utf-8", errors="backslashreplace") as file,
        ):
            file.write(f"{line}{defect.trace}\n" if is_new else line)
        if not is_new:
            return None
        return f"a defect of acidtest, {defect.what} ({defect.place}), at {defect.where}; see {self._path}"
