"""Functions of text."""

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from acidtest.evaluator.code import Code, JoinedRow, strict
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Handler
from acidtest.evaluator.errors import EvaluationError, Unknown
from acidtest.evaluator.like import like_pattern
from acidtest.evaluator.postgres import values
from acidtest.evaluator.postgres.types import INT4, UNTYPED, as_text, no_operator, settle, text_type
from acidtest.evaluator.types import Family, SqlType
from acidtest.model import ErrorKind

_MAX_LENGTH = 1 << 16


def _text(compiler: Compiler, node: exp.Expression) -> Code:
    """An argument that must be text; nothing else converts by itself."""
    code = compiler.compile(node)
    if code.type.family is Family.OPAQUE:
        raise Unknown("functions of types that are not modelled")
    if code.type.family not in UNTYPED and not code.type.is_text:
        raise no_operator()
    return as_text(compiler, code)


def _count(compiler: Compiler, node: exp.Expression) -> Code:
    code = compiler.compile(node)
    if code.type.family in UNTYPED:
        return settle(code, INT4)
    if code.type.family is not Family.INTEGER or code.type.bits > 32:
        raise Unknown("a position or length that is no integer")
    return code


def _result(compiler: Compiler) -> SqlType:
    return text_type(compiler)


def like(compiler: Compiler, node: exp.Like | exp.ILike, escape: exp.Expression | None = None) -> Code:
    """LIKE and ILIKE; CHAR keeps its padding here."""
    codes = []
    for part in (node.this, node.expression):
        code = compiler.compile(part)
        if code.type.is_text and code.type.padded and part is node.this:
            codes.append(code)
            continue
        codes.append(_text(compiler, part))
    symbol = "\\" if escape is None else str(escape.this)
    if escape is not None and (not isinstance(escape, exp.Literal) or len(symbol) != 1):
        raise Unknown("ESCAPE with anything but one character")
    wanted = not node.args.get("negate")
    folds = isinstance(node, exp.ILike)

    def matches(text: str, pattern: str) -> bool:
        if _ends_with_escape(pattern, symbol):
            raise Unknown("a pattern that ends with its escape")
        if folds and not (text.isascii() and pattern.isascii()):
            raise Unknown("ILIKE over characters beyond ASCII")
        return (like_pattern(pattern, symbol, folds).fullmatch(text) is not None) is wanted

    return compiler.dialect.logical(strict(INT4, matches, *codes).fn, *codes)


def _ends_with_escape(pattern: str, symbol: str) -> bool:
    return (len(pattern) - len(pattern.rstrip(symbol))) % 2 == 1


def escaped(compiler: Compiler, node: exp.Escape) -> Code:
    """LIKE ... ESCAPE '...'."""
    if not isinstance(node.this, exp.Like | exp.ILike):
        raise Unknown("ESCAPE")
    return like(compiler, node.this, node.expression)


def pipes(compiler: Compiler, node: exp.DPipe) -> Code:
    """||: one side must be text, the other converts."""
    left, right = compiler.compile(node.this), compiler.compile(node.expression)
    if not any(code.type.is_text or code.type.family in UNTYPED for code in (left, right)):
        raise no_operator()
    return strict(_result(compiler), lambda a, b: a + b, as_text(compiler, left), as_text(compiler, right))


def concat(compiler: Compiler, node: exp.Concat) -> Code:
    """CONCAT takes any type and skips NULLs."""
    fns = [_printed(compiler, part) for part in node.expressions]

    def joined(row: JoinedRow) -> str:
        return "".join(text for text in (code.fn(row) for code in fns) if text is not None)

    # CONCAT is not immutable, so it is never computed before the statement runs.
    return Code(_result(compiler), joined, fails=any(code.fails for code in fns))


def _printed(compiler: Compiler, node: exp.Expression) -> Code:
    """A value as the client would print it."""
    code = compiler.compile(node)
    if code.type.family in UNTYPED:
        return as_text(compiler, code)
    if code.type.family is Family.BOOLEAN:
        return code.then(_result(compiler), lambda value: "t" if value else "f")
    if code.type.family in (Family.OPAQUE, Family.TIME):
        raise Unknown("CONCAT of types that are not modelled")
    return code.then(_result(compiler), values.to_text)


def length(compiler: Compiler, node: exp.Length) -> Code:
    """LENGTH in characters."""
    return _text(compiler, node.this).then(INT4, len)


def octet_length(compiler: Compiler, node: exp.Anonymous) -> Code:
    """OCTET_LENGTH in bytes, with the padding of CHAR."""
    code = compiler.compile(node.expressions[0])
    if not code.type.padded:
        code = _text(compiler, node.expressions[0])
    return code.then(INT4, lambda text: len(text.encode()))


def _mapped(change: Callable[[str], str], *, ascii_only: bool = True) -> Callable[[Compiler, Any], Code]:
    def handler(compiler: Compiler, node: exp.Func) -> Code:
        def apply(text: str) -> str:
            if ascii_only and not text.isascii():
                raise Unknown("the case of letters beyond ASCII")
            return change(text)

        return _text(compiler, node.this).then(_result(compiler), apply)

    return handler


def substring(compiler: Compiler, node: exp.Substring) -> Code:
    """SUBSTRING: positions count from 1; those before the text are empty."""
    codes = [_text(compiler, node.this), _count(compiler, node.args["start"])]
    if node.args.get("length") is not None:
        codes.append(_count(compiler, node.args["length"]))

    def cut(text: str, start: int, size: int | None = None) -> str:
        if size is None:
            return text[max(start, 1) - 1 :]
        if size < 0:
            raise EvaluationError(ErrorKind.BAD_VALUE, "negative substring length not allowed")
        return text[max(start, 1) - 1 : max(start + size, 1) - 1]

    return strict(_result(compiler), cut, *codes, fails=len(codes) > 2)


def left(compiler: Compiler, node: exp.Left) -> Code:
    """LEFT: a negative count leaves out that many at the end."""
    return strict(
        _result(compiler),
        lambda text, size: text[:size] if size else "",
        _text(compiler, node.this),
        _count(compiler, node.expression),
    )


def right(compiler: Compiler, node: exp.Right) -> Code:
    """RIGHT: a negative count leaves out that many at the start."""
    return strict(
        _result(compiler),
        lambda text, size: text[-size:] if size else "",
        _text(compiler, node.this),
        _count(compiler, node.expression),
    )


def trim(compiler: Compiler, node: exp.Trim) -> Code:
    """TRIM and its kin: any of a set of characters."""
    removed = node.args.get("expression")
    codes = [_text(compiler, part) for part in (node.this, removed) if part is not None]
    side = str(node.args.get("position") or "BOTH").upper()
    strip = {"BOTH": str.strip, "LEADING": str.lstrip, "TRAILING": str.rstrip}[side]

    def trimmed(text: str, characters: str = " ") -> str:
        return strip(text, characters) if characters else text

    return strict(_result(compiler), trimmed, *codes)


def replace(compiler: Compiler, node: exp.Replace) -> Code:
    """REPLACE."""
    codes = [_text(compiler, part) for part in (node.this, node.expression, node.args["replacement"])]
    return strict(_result(compiler), lambda text, old, new: text.replace(old, new) if old else text, *codes)


def position(compiler: Compiler, node: exp.StrPosition) -> Code:
    """POSITION and STRPOS."""
    if node.args.get("position") is not None or node.args.get("occurrence") is not None:
        raise Unknown("POSITION from a position")
    codes = [_text(compiler, part) for part in (node.this, node.args["substr"])]
    return strict(INT4, lambda text, part: text.find(part) + 1, *codes)


def repeat(compiler: Compiler, node: exp.Repeat) -> Code:
    """REPEAT."""

    def repeated(text: str, times: int) -> str:
        if len(text) * times > _MAX_LENGTH:
            raise Unknown("very long texts")
        return text * max(times, 0)

    codes = (_text(compiler, node.this), _count(compiler, node.args["times"]))
    return strict(_result(compiler), repeated, *codes)


def pad(compiler: Compiler, node: exp.Pad) -> Code:
    """LPAD and RPAD: cut if too long."""
    codes = [_text(compiler, node.this), _count(compiler, node.expression)]
    fill = node.args.get("fill_pattern")
    if fill is not None:
        codes.append(_text(compiler, fill))
    on_left = bool(node.args.get("is_left"))

    def padded(text: str, size: int, filling: str = " ") -> str:
        if size > _MAX_LENGTH:
            raise Unknown("very long texts")
        size = max(size, 0)
        missing = size - len(text)
        if missing <= 0 or not filling:
            return text[:size]
        extra = (filling * missing)[:missing]
        return extra + text if on_left else text + extra

    return strict(_result(compiler), padded, *codes)


def first_code_point(compiler: Compiler, node: exp.Ascii) -> Code:
    """ASCII: the code point of the first character, 0 for an empty text."""
    return _text(compiler, node.this).then(INT4, lambda text: ord(text[0]) if text else 0)


HANDLERS: dict[type[Any], Handler] = {
    exp.Like: like,
    exp.ILike: like,
    exp.Escape: escaped,
    exp.DPipe: pipes,
    exp.Concat: concat,
    exp.Length: length,
    exp.Upper: _mapped(str.upper),
    exp.Lower: _mapped(str.lower),
    exp.Reverse: _mapped(lambda text: text[::-1], ascii_only=False),
    exp.Substring: substring,
    exp.Left: left,
    exp.Right: right,
    exp.Trim: trim,
    exp.Replace: replace,
    exp.StrPosition: position,
    exp.Repeat: repeat,
    exp.Pad: pad,
    exp.Ascii: first_code_point,
}
FUNCTIONS: dict[str, Handler] = {"OCTET_LENGTH": octet_length}
