"""A seeded generator of typed random expressions, as SQL text."""

from collections.abc import Callable
from random import Random

from tests.evaluator.tables import Kind

Make = Callable[[int], str]

_INTEGERS = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "10",
    "-1",
    "-5",
    "100",
    "2147483647",
    "9223372036854775807",
    "4294967296",
]
_DECIMALS = ["0.0", "1.5", "2.50", "-0.5", "0.333", "100.01", "3.14159", "12345678.9"]
_DOUBLES = ["0e0", "1e0", "1.5e0", "-2.5e0", "1e10", "1.25e-3"]
_TEXTS = ["''", "'a'", "'A'", "'ab'", "'abc'", "'1'", "'10'", "'1a'", "'a '", "'x_y'", "'2.5'", "'-1'", "'b'"]
_PATTERNS = ["'a%'", "'%b%'", "'_'", "'A_'", "'%'", "'x\\_y'", "'%1%'", "'a'", "''"]
_COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]
_DATES = ["'2020-01-01'", "'2020-02-01'", "'2019-12-31'", "'2021-05-06'"]


class Expressions:
    """Random expressions over the columns of a table. `sloppy`: the share of operands of a wrong type."""

    sloppy = 0.08

    def __init__(self, random: Random, kinds: dict[str, Kind], prefix: str = "") -> None:
        self.random = random
        self.columns: dict[str, list[str]] = {}
        for key, kind in kinds.items():
            self.columns.setdefault(kind.family, []).append(prefix + key)
        self.makers: dict[str, list[tuple[int, Make]]] = {
            "int": self.integers(),
            "decimal": self.decimals(),
            "double": self.doubles(),
            "text": self.texts(),
            "bool": self.conditions(),
            "date": self.dates(),
        }

    def any(self, depth: int) -> str:
        """An expression of any type."""
        return self.of(self.pick(["int", "decimal", "double", "text", "bool", "bool", "bool", "date"]), depth)

    def of(self, family: str, depth: int) -> str:
        """An expression of a type, or now and then of another."""
        if self.random.random() < self.sloppy:
            family = self.pick(list(self.makers))
        if depth <= 0 or self.random.random() < 0.15:
            return self.leaf(family)
        weights, makers = zip(*self.makers[family], strict=True)
        maker: Make = self.random.choices(makers, weights)[0]
        return maker(depth - 1)

    def pick(self, options: list[str]) -> str:
        """One of several, evenly."""
        return self.random.choice(options)

    def leaf(self, family: str) -> str:
        """A column or a literal."""
        if self.random.random() < 0.04:
            return "NULL"
        names = self.columns.get(family)
        if names and self.random.random() < 0.65:
            return self.pick(names)
        return self.literal(family)

    def literal(self, family: str) -> str:
        """A constant."""
        if family == "bool":
            return self.pick(["TRUE", "FALSE"])
        if family == "date":
            return self.pick([f"DATE {text}" for text in _DATES])
        pools = {"int": _INTEGERS, "decimal": _DECIMALS, "double": self.double_literals(), "text": _TEXTS}
        return self.pick(pools[family])

    def double_literals(self) -> list[str]:
        """Literals of type DOUBLE."""
        return _DOUBLES

    def number(self, depth: int) -> str:
        """An expression of any numeric type."""
        return self.of(self.pick(["int", "int", "decimal", "double"]), depth)

    def exact(self, depth: int) -> str:
        """An integer or a decimal."""
        return self.of(self.pick(["int", "decimal"]), depth)

    def comparison(self, depth: int) -> str:
        """Two operands of like types."""
        family = self.pick(["int", "int", "decimal", "double", "text", "text", "number", "date"])
        left, right = (self.number(depth) if family == "number" else self.of(family, depth) for _ in range(2))
        if family == "date" and self.random.random() < 0.4:
            right = self.pick(_DATES)
        return f"({left} {self.pick(_COMPARISONS)} {right})"

    def membership(self, depth: int) -> str:
        """IN over a list."""
        family = self.pick(["int", "decimal", "text", "double"])
        items = ", ".join(self.of(family, min(depth, 1)) for _ in range(self.random.randint(1, 4)))
        negation = self.pick(["", "NOT "])
        return f"({self.of(family, depth)} {negation}IN ({items}))"

    def between(self, depth: int) -> str:
        """BETWEEN."""
        family = self.pick(["int", "decimal", "text", "double", "date"])
        value, low, high = (self.of(family, depth if at == 0 else min(depth, 1)) for at in range(3))
        return f"({value} {self.pick(['', 'NOT '])}BETWEEN {low} AND {high})"

    def like(self, depth: int) -> str:
        """LIKE, with and without an escape of its own."""
        escape = " ESCAPE '|'" if self.random.random() < 0.15 else ""
        return f"({self.of('text', depth)} {self.pick(['', 'NOT '])}LIKE {self.pick(_PATTERNS)}{escape})"

    def is_test(self, depth: int) -> str:
        """IS NULL for every type, IS TRUE and FALSE for conditions."""
        if self.random.random() < 0.5:
            return f"({self.any(depth)} IS {self.pick(['', 'NOT '])}NULL)"
        if self.random.random() < 0.3:
            # sqlglot reads IS UNKNOWN as IS NULL, which takes any type; so it is used on conditions only.
            return f"({self.comparison(depth)} IS {self.pick(['', 'NOT '])}UNKNOWN)"
        return f"({self.of('bool', depth)} IS {self.pick(['', 'NOT '])}{self.pick(['TRUE', 'FALSE'])})"

    def case(self, family: str) -> Make:
        """CASE, both kinds."""

        def make(depth: int) -> str:
            if self.random.random() < 0.3:
                kind = self.pick(["int", "text"])
                arms = " ".join(
                    f"WHEN {self.of(kind, min(depth, 1))} THEN {self.of(family, depth)}" for _ in range(2)
                )
                return f"CASE {self.of(kind, depth)} {arms} ELSE {self.of(family, depth)} END"
            ending = f" ELSE {self.of(family, depth)}" if self.random.random() < 0.7 else ""
            arms = " ".join(
                f"WHEN {self.of('bool', depth)} THEN {self.of(family, depth)}"
                for _ in range(self.random.randint(1, 2))
            )
            return f"CASE {arms}{ending} END"

        return make

    def call(self, name: str, *families: str) -> Make:
        """A function call."""

        def make(depth: int) -> str:
            return f"{name}({', '.join(self._operand(family, depth) for family in families)})"

        return make

    def infix(self, symbols: list[str], left: str, right: str) -> Make:
        """A binary operator."""

        def make(depth: int) -> str:
            return f"({self._operand(left, depth)} {self.pick(symbols)} {self._operand(right, depth)})"

        return make

    def _operand(self, family: str, depth: int) -> str:
        return self.number(depth) if family == "number" else self.of(family, depth)

    def choices(self, family: str) -> list[tuple[int, Make]]:
        """CASE, COALESCE, NULLIF, GREATEST, LEAST in a type."""
        return [
            (2, self.case(family)),
            (2, self.call("COALESCE", family, family)),
            (1, self.call("NULLIF", family, family)),
            (1, self.call("GREATEST", family, family)),
            (1, self.call("LEAST", family, family, family)),
        ]

    def conditions(self) -> list[tuple[int, Make]]:
        """Makers of conditions."""
        return [
            (8, self.comparison),
            (5, self.infix(["AND", "OR"], "bool", "bool")),
            (2, lambda depth: f"(NOT {self.of('bool', depth)})"),
            (3, self.membership),
            (3, self.between),
            (2, self.like),
            (3, self.is_test),
            *self.more_conditions(),
        ]

    def more_conditions(self) -> list[tuple[int, Make]]:
        """What the dialect adds."""
        return []

    def integers(self) -> list[tuple[int, Make]]:
        """Makers of integers."""
        return [
            (6, self.infix(["+", "-", "*"], "int", "int")),
            (2, self.infix(["%"], "int", "int")),
            (2, lambda depth: f"(- {self.of('int', depth)})"),
            (2, self.call("ABS", "int")),
            (2, self.infix(["&", "|"], "int", "int")),
            (
                1,
                lambda depth: (
                    f"({self.of('int', depth)} {self.pick(['<<', '>>'])} {self.pick(['0', '1', '3'])})"
                ),
            ),
            (1, lambda depth: f"(~ {self.of('int', depth)})"),
            (2, self.call("CHAR_LENGTH", "text")),
            (1, self.call("ASCII", "text")),
            *self.choices("int"),
            *self.more_integers(),
        ]

    def more_integers(self) -> list[tuple[int, Make]]:
        """What the dialect adds."""
        return []

    def decimals(self) -> list[tuple[int, Make]]:
        """Makers of exact numbers with decimals."""
        return [
            (6, self.infix(["+", "-", "*"], "decimal", "decimal")),
            (3, self.infix(["+", "-", "*", "/"], "decimal", "int")),
            (3, self.infix(["/"], "decimal", "decimal")),
            (1, self.infix(["%"], "decimal", "decimal")),
            (1, lambda depth: f"(- {self.of('decimal', depth)})"),
            (1, self.call("ABS", "decimal")),
            (2, lambda depth: f"ROUND({self.of('decimal', depth)}, {self.pick(['0', '1', '2', '-1'])})"),
            (1, self.call("ROUND", "decimal")),
            (1, self.call("FLOOR", "decimal")),
            (1, self.call("CEIL", "decimal")),
            (1, lambda depth: f"CAST({self.number(depth)} AS DECIMAL({self.pick(['10,2', '20,4', '8,0'])}))"),
            *self.choices("decimal"),
            *self.more_decimals(),
        ]

    def more_decimals(self) -> list[tuple[int, Make]]:
        """What the dialect adds."""
        return []

    def doubles(self) -> list[tuple[int, Make]]:
        """Makers of inexact numbers."""
        return [
            (6, self.infix(["+", "-", "*", "/"], "double", "number")),
            (3, self.infix(["+", "-", "*", "/"], "double", "double")),
            (1, lambda depth: f"(- {self.of('double', depth)})"),
            (1, self.call("ABS", "double")),
            (1, self.call("ROUND", "double")),
            (1, self.call("FLOOR", "double")),
            (1, self.call("CEIL", "double")),
            (1, self.call("SIGN", "number")),
            *self.choices("double"),
            *self.more_doubles(),
        ]

    def more_doubles(self) -> list[tuple[int, Make]]:
        """What the dialect adds."""
        return []

    def texts(self) -> list[tuple[int, Make]]:
        """Makers of texts."""
        size = ["0", "1", "2", "5", "-1"]
        return [
            (4, self.call("CONCAT", "text", "text")),
            (1, self.call("CONCAT", "text", "number")),
            (2, self.call("UPPER", "text")),
            (2, self.call("LOWER", "text")),
            (
                2,
                lambda depth: (
                    f"SUBSTRING({self.of('text', depth)}, "
                    f"{self.pick(['1', '2', '0', '-1'])}, {self.pick(size[:4])})"
                ),
            ),
            (1, lambda depth: f"SUBSTRING({self.of('text', depth)}, {self.pick(['1', '2', '3'])})"),
            (1, lambda depth: f"LEFT({self.of('text', depth)}, {self.pick(size)})"),
            (1, lambda depth: f"RIGHT({self.of('text', depth)}, {self.pick(size)})"),
            (1, self.call("TRIM", "text")),
            (1, self.call("LTRIM", "text")),
            (1, self.call("RTRIM", "text")),
            (2, self.call("REPLACE", "text", "text", "text")),
            (1, self.call("REVERSE", "text")),
            (1, lambda depth: f"REPEAT({self.of('text', depth)}, {self.pick(['0', '1', '2', '-1'])})"),
            (1, lambda depth: f"LPAD({self.of('text', depth)}, {self.pick(['0', '2', '6'])}, 'xy')"),
            (1, lambda depth: f"RPAD({self.of('text', depth)}, {self.pick(['0', '2', '6'])}, 'xy')"),
            *self.choices("text"),
            *self.more_texts(),
        ]

    def more_texts(self) -> list[tuple[int, Make]]:
        """What the dialect adds."""
        return []

    def dates(self) -> list[tuple[int, Make]]:
        """Makers of dates."""
        return self.choices("date")


class MySQLExpressions(Expressions):
    """What MySQL and MariaDB add."""

    def more_conditions(self) -> list[tuple[int, Make]]:
        return [
            (2, self.infix(["XOR"], "bool", "bool")),
            (2, lambda depth: f"({self.of('int', depth)} <=> {self.of('int', depth)})"),
            (1, lambda depth: f"({self.of('text', depth)} <=> {self.of('text', depth)})"),
            (1, lambda depth: f"({self.of('text', depth)} = {self.of('text', depth)} COLLATE utf8mb4_bin)"),
            (1, self.infix(["=", "<", ">="], "text", "number")),
            (1, self.infix(["AND", "OR"], "number", "bool")),
        ]

    def more_integers(self) -> list[tuple[int, Make]]:
        return [
            (2, self.infix(["DIV"], "int", "int")),
            (1, self.infix(["DIV"], "decimal", "decimal")),
            (1, self.infix(["^"], "int", "int")),
            (1, self.call("SIGN", "number")),
            (1, self.call("LENGTH", "text")),
            (1, self.call("INSTR", "text", "text")),
            (1, self.call("LOCATE", "text", "text")),
            (1, self.call("STRCMP", "text", "text")),
            (1, self.call("FIELD", "int", "int", "int")),
            (1, self.call("BIT_COUNT", "int")),
            (1, self.call("IF", "bool", "int", "int")),
            (1, self.call("IFNULL", "int", "int")),
            (1, lambda depth: f"CAST({self.number(depth)} AS {self.pick(['SIGNED', 'UNSIGNED'])})"),
            (1, lambda depth: f"CAST({self.of('text', depth)} AS SIGNED)"),
            (1, lambda depth: f"ROUND({self.of('int', depth)}, {self.pick(['0', '1', '-1', '-2'])})"),
            (1, self.call("ISNULL", "int")),
        ]

    def more_decimals(self) -> list[tuple[int, Make]]:
        return [
            (3, self.infix(["/"], "int", "int")),
            (1, lambda depth: f"TRUNCATE({self.of('decimal', depth)}, {self.pick(['0', '1', '-1'])})"),
            (1, self.call("IF", "bool", "decimal", "decimal")),
            (1, lambda depth: f"CAST({self.of('text', depth)} AS DECIMAL(10,2))"),
        ]

    def more_doubles(self) -> list[tuple[int, Make]]:
        return [
            (1, self.infix(["%"], "double", "number")),
            (1, lambda depth: f"ROUND({self.of('double', depth)}, {self.pick(['0', '1', '2', '-1'])})"),
            (1, lambda depth: f"CAST({self.of('text', depth)} AS DOUBLE)"),
            (1, self.infix(["+", "*"], "text", "number")),
        ]

    def more_texts(self) -> list[tuple[int, Make]]:
        return [
            (1, self.call("CONCAT_WS", "text", "text", "text")),
            (1, self.call("IF", "bool", "text", "text")),
            (1, lambda depth: f"CAST({self.any(depth)} AS CHAR)"),
            (1, lambda depth: f"CAST({self.of('text', depth)} AS CHAR(2))"),
            (
                1,
                lambda depth: (
                    f"TRIM({self.pick(['LEADING', 'TRAILING', 'BOTH'])} 'a' FROM {self.of('text', depth)})"
                ),
            ),
            (1, self.call("HEX", "int")),
        ]


class SQLiteExpressions(Expressions):
    """SQLite has other names for some functions."""

    names = (("GREATEST(", "MAX("), ("LEAST(", "MIN("), ("CHAR_LENGTH(", "LENGTH("))

    def of(self, family: str, depth: int) -> str:
        text = super().of(family, depth)
        for standard, own in self.names:
            text = text.replace(standard, own)
        return text


class PostgresExpressions(Expressions):
    """What PostgreSQL adds; a wrong type is an error here, so it is rarer."""

    sloppy = 0.02

    def double_literals(self) -> list[str]:
        return [f"{text}::float8" for text in _DOUBLES]

    def more_conditions(self) -> list[tuple[int, Make]]:
        return [
            (
                2,
                lambda depth: (
                    f"({self.of('int', depth)} IS {self.pick(['', 'NOT '])}"
                    f"DISTINCT FROM {self.of('int', depth)})"
                ),
            ),
            (1, lambda depth: f"({self.of('text', depth)} ILIKE {self.pick(_PATTERNS)})"),
            (1, lambda depth: f"CAST({self.of('int', depth)} AS boolean)"),
            (1, lambda depth: f"({self.of('int', depth)} = {self.pick(['1', '7', '-5'])!r})"),
            (1, self.infix(["=", "<", ">"], "bool", "bool")),
        ]

    def more_integers(self) -> list[tuple[int, Make]]:
        return [
            (3, self.infix(["/"], "int", "int")),
            (1, self.infix(["#"], "int", "int")),
            (1, self.call("LENGTH", "text")),
            (1, self.call("OCTET_LENGTH", "text")),
            (1, self.call("STRPOS", "text", "text")),
            (
                1,
                lambda depth: f"CAST({self.number(depth)} AS {self.pick(['smallint', 'integer', 'bigint'])})",
            ),
            (1, lambda depth: f"CAST({self.of('text', depth)} AS integer)"),
            (1, lambda depth: f"CAST({self.of('bool', depth)} AS integer)"),
            (1, self.infix(["-"], "date", "date")),
        ]

    def more_decimals(self) -> list[tuple[int, Make]]:
        return [
            (1, lambda depth: f"TRUNC({self.of('decimal', depth)}, {self.pick(['0', '1', '-1'])})"),
            (1, lambda depth: f"CAST({self.number(depth)} AS numeric)"),
            (1, self.call("SIGN", "decimal")),
        ]

    def more_doubles(self) -> list[tuple[int, Make]]:
        return [
            (1, lambda depth: f"CAST({self.number(depth)} AS double precision)"),
            (1, self.call("TRUNC", "double")),
        ]

    def more_texts(self) -> list[tuple[int, Make]]:
        return [
            (3, self.infix(["||"], "text", "text")),
            (1, lambda depth: f"({self.of('text', depth)} || {self.any(depth)})"),
            (1, lambda depth: f"CAST({self.any(depth)} AS text)"),
            (1, lambda depth: f"CAST({self.of('text', depth)} AS {self.pick(['varchar(2)', 'char(3)'])})"),
            (
                1,
                lambda depth: (
                    f"TRIM({self.pick(['LEADING', 'TRAILING', 'BOTH'])} 'ab' FROM {self.of('text', depth)})"
                ),
            ),
        ]

    def dates(self) -> list[tuple[int, Make]]:
        return [
            *self.choices("date"),
            (2, lambda depth: f"({self.of('date', depth)} + {self.pick(['1', '-3', '40'])})"),
        ]
