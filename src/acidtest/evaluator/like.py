"""LIKE patterns as regular expressions."""

import re
from functools import lru_cache

_WILDCARDS = {"%": ".*", "_": "."}


@lru_cache(maxsize=16384)
def like_pattern(pattern: str, escape: str, folds_case: bool) -> re.Pattern[str]:
    """The expression that matches what a LIKE pattern does; an escape at the very end stands for itself."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == escape and at + 1 < len(pattern):
            at += 1
            parts.append(re.escape(pattern[at]))
        else:
            parts.append(_WILDCARDS.get(char) or re.escape(char))
        at += 1
    flags = re.DOTALL | (re.IGNORECASE | re.ASCII if folds_case else 0)
    return re.compile("".join(parts), flags)
