"""Functions of text."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, JoinedRow, unsure
from acidtest.evaluator.code import unsure_strict as strict
from acidtest.evaluator.collations import mysql_collation
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.like import like_pattern
from acidtest.evaluator.mysql.quirks import quirks_of
from acidtest.evaluator.mysql.types import as_text, common_collation, text_type
from acidtest.evaluator.types import INTEGER, Family, SqlType, Strength


def ascii_only(text: str) -> str:
    """The text, or `Unknown` if its answer depends on a character set."""
    if not text.isascii():
        raise Unknown("functions of characters beyond ASCII")
    return text


def like(compiler: Compiler, node: exp.Like, escape: exp.Expression | None = None) -> Code:
    """LIKE with MySQL's default escape; letters compare in the collation."""
    codes = [as_text(compiler, compiler.compile(part)) for part in (node.this, node.expression)]
    collation, _ = common_collation(codes)
    symbol = "\\" if escape is None else str(escape.this)
    if escape is not None and (not isinstance(escape, exp.Literal) or len(symbol) != 1):
        raise Unknown("ESCAPE with anything but one character")
    wanted = not node.args.get("negate")
    folds = collation.folds_case

    def matches(text: str, pattern: str) -> bool:
        if folds and not (text.isascii() and pattern.isascii()):
            raise Unknown("LIKE over characters beyond ASCII")
        return (like_pattern(pattern, symbol, folds).fullmatch(text) is not None) is wanted

    return compiler.dialect.logical(strict(INTEGER, matches, *codes).fn, *codes)


def escaped(compiler: Compiler, node: exp.Escape) -> Code:
    """LIKE ... ESCAPE '...'."""
    if not isinstance(node.this, exp.Like):
        raise Unknown("ESCAPE")
    return like(compiler, node.this, node.expression)


def _texts(compiler: Compiler, nodes: Sequence[exp.Expression]) -> tuple[SqlType, list[Code]]:
    codes = [as_text(compiler, compiler.compile(node)) for node in nodes]
    collation, strength = common_collation(codes)
    return SqlType(Family.TEXT, collation=collation, strength=strength), codes


def _subject_and_texts(compiler: Compiler, nodes: Sequence[exp.Expression]) -> tuple[SqlType, list[Code]]:
    """Texts of which, on MySQL, the first alone decides the collation of the answer."""
    type_, codes = _texts(compiler, nodes)
    if not quirks_of(compiler).subject_decides_collation:
        return type_, codes
    return type_.but(collation=codes[0].type.collation, strength=codes[0].type.strength), codes


def _count(compiler: Compiler, node: exp.Expression) -> Code:
    code = compiler.compile(node)
    if code.type.family not in (Family.INTEGER, Family.NULL):
        raise Unknown("a position or length that is no integer")
    return code


def concat(compiler: Compiler, node: exp.Concat) -> Code:
    """CONCAT: NULL if any part is."""
    type_, codes = _texts(compiler, node.expressions)
    return strict(type_, lambda *parts: "".join(parts), *codes)


def concat_ws(compiler: Compiler, node: exp.ConcatWs) -> Code:
    """CONCAT_WS: skips NULLs, NULL if the separator is."""
    type_, codes = _texts(compiler, node.expressions)
    separator, parts = codes[0].fn, [code.fn for code in codes[1:]]

    def joined(row: JoinedRow) -> str | None:
        between = separator(row)
        if between is None:
            return None
        return str(between).join(text for text in (part(row) for part in parts) if text is not None)

    return Code(type_, joined, constant=all(code.constant for code in codes))


def length(compiler: Compiler, node: exp.Length) -> Code:
    """CHAR_LENGTH, and LENGTH in bytes."""
    code = as_text(compiler, compiler.compile(node.this))
    if node.args.get("binary"):
        return code.then(INTEGER, lambda text: len(ascii_only(text)))
    return code.then(INTEGER, len)


def _mapped(change: Callable[[str], str]) -> Callable[[Compiler, Any], Code]:
    def handler(compiler: Compiler, node: exp.Func) -> Code:
        type_, codes = _texts(compiler, [node.this])
        return codes[0].then(type_, lambda text: change(ascii_only(text)))

    return handler


def substring(compiler: Compiler, node: exp.Substring) -> Code:
    """SUBSTRING: positions count from 1, negative ones from the end."""
    type_, codes = _texts(compiler, [node.this])
    counts = [_count(compiler, node.args["start"])]
    if node.args.get("length") is not None:
        counts.append(_count(compiler, node.args["length"]))

    def cut(text: str, start: int, size: int | None = None) -> str:
        begin = start - 1 if start > 0 else len(text) + start
        if start == 0 or begin < 0 or (size is not None and size <= 0):
            return ""
        return text[begin:] if size is None else text[begin : begin + size]

    return strict(type_, cut, *codes, *counts)


def left(compiler: Compiler, node: exp.Left) -> Code:
    """LEFT."""
    type_, codes = _texts(compiler, [node.this])
    return strict(type_, lambda text, size: text[: max(size, 0)], *codes, _count(compiler, node.expression))


def right(compiler: Compiler, node: exp.Right) -> Code:
    """RIGHT."""
    type_, codes = _texts(compiler, [node.this])
    return strict(
        type_, lambda text, size: text[-size:] if size > 0 else "", *codes, _count(compiler, node.expression)
    )


def trim(compiler: Compiler, node: exp.Trim) -> Code:
    """TRIM, LTRIM, RTRIM: whole occurrences of a text, letter by letter the same."""
    removed = node.args.get("expression")
    type_, codes = _subject_and_texts(compiler, [node.this] if removed is None else [node.this, removed])
    side = str(node.args.get("position") or "BOTH").upper()

    def trimmed(text: str, what: str = " ") -> str:
        if not what:
            return text
        while side in ("BOTH", "LEADING") and text.startswith(what):
            text = text[len(what) :]
        while side in ("BOTH", "TRAILING") and text.endswith(what):
            text = text[: -len(what)]
        return text

    return strict(type_, trimmed, *codes)


def replace(compiler: Compiler, node: exp.Replace) -> Code:
    """REPLACE: letter by letter the same."""
    parts = [node.this, node.expression, node.args["replacement"]]
    type_, codes = _subject_and_texts(compiler, parts)
    if quirks_of(compiler).replaces_lazily:
        return _lazy_replace(type_, codes)
    return strict(type_, lambda text, old, new: text.replace(old, new) if old else text, *codes)


def _lazy_replace(type_: SqlType, codes: Sequence[Code]) -> Code:
    """A replacement by NULL where there is nothing to replace may be NULL or the text."""
    text_of, old_of, new_of = (code.fn for code in codes)
    literal = codes[0].constant

    def replaced(row: JoinedRow) -> str | None:
        text, old, new = text_of(row), old_of(row), new_of(row)
        if text is None or old is None:
            return None
        if new is None and (not old or old not in text):
            raise Unknown("REPLACE by NULL")
        if literal and old and old in text:
            # RPAD(REPLACE('x_y', v, w), 2, 'xy') is 'x_' on MariaDB whatever is replaced.
            raise Unknown("REPLACE in a constant")
        return None if new is None else text.replace(old, new) if old else str(text)

    fn = unsure(replaced) if any(code.fails for code in codes) else replaced
    return Code(type_, fn, constant=all(code.constant for code in codes))


def position(compiler: Compiler, node: exp.StrPosition) -> Code:
    """INSTR and LOCATE: the first position, in the collation."""
    if node.args.get("position") is not None or node.args.get("occurrence") is not None:
        raise Unknown("LOCATE from a position")
    type_, codes = _subject_and_texts(compiler, [node.this, node.args["substr"]])
    if (
        not quirks_of(compiler).subject_decides_collation
        and len({code.type.collation for code in codes if code.type.strength is Strength.COLUMN}) > 1
    ):
        raise Unknown("LOCATE over different collations")
    folds = type_.collation.folds_case

    def found(text: str, part: str) -> int:
        if folds:
            text, part = ascii_only(text).upper(), ascii_only(part).upper()
        return text.find(part) + 1

    return strict(INTEGER, found, *codes)


def repeat(compiler: Compiler, node: exp.Repeat) -> Code:
    """REPEAT."""
    type_, codes = _texts(compiler, [node.this])

    def repeated(text: str, times: int) -> str:
        if len(text) * times > 1 << 16:
            raise Unknown("texts beyond max_allowed_packet")
        return str(text * max(times, 0))

    return strict(type_, repeated, *codes, _count(compiler, node.args["times"]))


def pad(compiler: Compiler, node: exp.Pad) -> Code:
    """LPAD and RPAD: NULL for a negative length, cut if too long."""
    fill = node.args.get("fill_pattern")
    if fill is None:
        raise Unknown("LPAD without a filling")
    type_, codes = _subject_and_texts(compiler, [node.this, fill])
    on_left = bool(node.args.get("is_left"))

    def padded(text: str, filling: str, size: int) -> str | None:
        if size < 0:
            return None
        missing = size - len(text)
        if missing <= 0:
            return text[:size]
        if not filling or size > 1 << 16:
            raise Unknown("padding with nothing, or beyond max_allowed_packet")
        extra = (filling * missing)[:missing]
        return extra + text if on_left else text + extra

    return strict(type_, padded, *codes, _count(compiler, node.expression))


def first_byte(compiler: Compiler, node: exp.Ascii) -> Code:
    """ASCII: the first byte, 0 for an empty text."""
    code = as_text(compiler, compiler.compile(node.this))
    return code.then(INTEGER, lambda text: ord(ascii_only(text)[0]) if text else 0)


def collate(compiler: Compiler, node: exp.Collate) -> Code:
    """COLLATE: the strongest word on how to compare."""
    operand = compiler.compile(node.this)
    if not operand.type.is_text or operand.type.strength is Strength.IGNORABLE:
        raise Unknown("COLLATE of anything but texts")
    code = as_text(compiler, operand)
    if operand.type.family is Family.NULL or (code.constant and not code.fails and code.fn(()) is None):
        raise Unknown("COLLATE of NULL")
    name = str(getattr(node.expression, "name", "") or node.expression.this)
    type_ = code.type.but(collation=mysql_collation(name), strength=Strength.EXPLICIT)
    return code.typed(type_)


def strcmp(compiler: Compiler, node: exp.Anonymous) -> Code:
    """STRCMP: -1, 0 or 1."""
    if not all(compiler.compile(part).type.is_text for part in node.expressions):
        raise Unknown("STRCMP of anything but texts")
    type_, codes = _texts(compiler, node.expressions)
    key = type_.collation.key

    def compared(first: str, second: str) -> int:
        one, two = key(first), key(second)
        return (one > two) - (one < two)

    return strict(INTEGER, compared, *codes)


def hexadecimal(compiler: Compiler, node: exp.Hex) -> Code:
    """HEX of an integer or of the bytes of a text."""
    code = compiler.compile(node.this)
    # As a number, the answer has decimals that are not modelled.
    target = text_type(compiler, Strength.LITERAL).but(loose=True)
    if code.type.family is Family.INTEGER:
        return code.then(target, lambda value: format(value & ((1 << 64) - 1), "X"))
    if code.type.is_text:
        return code.then(target, lambda text: ascii_only(text).encode().hex().upper())
    raise Unknown("HEX of anything but integers and texts")


HANDLERS: dict[type[Any], Handler] = {
    exp.Like: like,
    exp.Escape: escaped,
    exp.Concat: concat,
    exp.ConcatWs: concat_ws,
    exp.Length: length,
    exp.Upper: _mapped(str.upper),
    exp.Lower: _mapped(str.lower),
    exp.Reverse: _mapped(lambda text: text[::-1]),
    exp.Substring: substring,
    exp.Left: left,
    exp.Right: right,
    exp.Trim: trim,
    exp.Replace: replace,
    exp.StrPosition: position,
    exp.Repeat: repeat,
    exp.Pad: pad,
    exp.Ascii: first_byte,
    exp.Collate: collate,
    exp.Hex: hexadecimal,
}
FUNCTIONS: dict[str, Handler] = {"STRCMP": strcmp}
