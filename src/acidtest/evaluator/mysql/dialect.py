"""The dialects of the family, as handlers and flags."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from sqlglot import exp

from acidtest.evaluator import subqueries
from acidtest.evaluator.code import Code, Convert, Fn, unsure, unsure_strict
from acidtest.evaluator.compiler import Compiler
from acidtest.evaluator.dialect import Aggregate, Handler, Settings, Writing
from acidtest.evaluator.errors import Unknown
from acidtest.evaluator.mysql import arithmetic, numbers, outputs, special, strings, values
from acidtest.evaluator.mysql.aggregates import aggregate
from acidtest.evaluator.mysql.compare import comparables
from acidtest.evaluator.mysql.quirks import Quirks, QuirkyDialect
from acidtest.evaluator.mysql.special import mixes_signs
from acidtest.evaluator.mysql.store import store
from acidtest.evaluator.mysql.types import as_double, common_collation, common_type, stored_type
from acidtest.evaluator.types import DOUBLE, LOGICAL, Family, SqlType
from acidtest.model import Column, ErrorKind


class MySQL(QuirkyDialect):
    """MySQL 5.6 to 9.7 in its default SQL mode."""

    name = "mysql"
    pairwise_between = False
    writing = Writing(
        counts_changes=True,
        assigns_in_sequence=True,
        upserts_in_sequence=True,
        joins_from_old_rows=False,
        values_see_columns=True,
        nulls_last=False,
        references_at_once=True,
        upserts_twice=True,
        bare_text_defaults=True,
        refuses_own_reads=True,
        refuses_own_reads_of_joins=True,
        refuses_generated=ErrorKind.OTHER,
    )
    strict = staticmethod(unsure_strict)
    handlers: ClassVar[Mapping[type[Any], Handler]] = {
        **subqueries.SHARED,
        **arithmetic.HANDLERS,
        **numbers.HANDLERS,
        **strings.HANDLERS,
        **special.HANDLERS,
    }
    functions: ClassVar[Mapping[str, Handler]] = {**numbers.FUNCTIONS, **strings.FUNCTIONS}

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        if self.quirks.references_first:
            self.writing = replace(self.writing, references_first=True)

    @classmethod
    def quirks_for(cls, version: tuple[int, ...]) -> Quirks:
        if version and version < (8,):
            return Quirks(
                division_keeps_digits=True,
                replaces_lazily=True,
                rounds_to_fixed=True,
                subject_decides_collation=False,
                limits_double_text=False,
                rounds_conditions=True,
                is_old=True,
            )
        return Quirks(references_first=not version or version >= (9, 6))

    @classmethod
    def settings_for(cls, version: tuple[int, ...]) -> Settings:
        modern = not version or version >= (8,)
        return Settings(
            version=version,
            connection_collation="utf8mb4_0900_ai_ci" if modern else "utf8mb4_general_ci",
            full_group_by=not version or version >= (5, 7),
            strict=not version or version >= (5, 7),
        )

    def column_type(self, column: Column) -> SqlType:
        return stored_type(column)

    def truth(self, compiler: Compiler, code: Code) -> Fn:
        if code.type.logical and not code.constant:
            return code.fn
        if code.type.is_temporal:
            raise Unknown("dates as conditions")
        if compiler.writes and code.type.is_text:
            return outputs.not_zero(code.then(DOUBLE, values.text_to_double_or_unknown).fn)
        number = code if code.type.is_numeric else as_double(compiler, code)
        if self.quirks.rounds_conditions and number.type.family is not Family.INTEGER:
            return outputs.surely_not_zero(number.fn)
        return outputs.not_zero(number.fn)

    def logical(self, fn: Fn, *codes: Code) -> Code:
        return Code(
            LOGICAL,
            fn,
            constant=all(code.constant for code in codes),
            fails=any(code.fails for code in codes),
        )

    def comparables(self, compiler: Compiler, codes: Sequence[Code], *, ordering: bool) -> list[Code]:  # noqa: ARG002
        return comparables(compiler, codes)

    def list_pairs(
        self,
        compiler: Compiler,  # noqa: ARG002
        value: Code,
        items: Sequence[Code],
    ) -> list[tuple[Code, Code]]:
        operand, *others = self._listed((value, *items))
        return [(operand, item) for item in others]

    def _listed(self, codes: Sequence[Code]) -> list[Code]:
        if any(code.type.loose and code.type.family is Family.DECIMAL for code in codes):
            raise Unknown("quotients in a list of values to compare with")
        if self.quirks.confuses_signs_in_lists and mixes_signs(codes):
            raise Unknown("IN over signed and unsigned integers")
        texts = [code for code in codes if code.type.is_text]
        if len(texts) < 2:
            return list(codes)
        collation, strength = common_collation(texts)
        return [
            replace(code, type=code.type.but(collation=collation, strength=strength))
            if code.type.is_text
            else code
            for code in codes
        ]

    def case_pairs(
        self,
        compiler: Compiler,  # noqa: ARG002
        subject: Code,
        values: Sequence[Code],
    ) -> list[tuple[Code, Code]]:
        if mixes_signs((subject, *values)):
            raise Unknown("CASE of a signed integer against an unsigned one")
        operand, *others = self._listed((subject, *values))
        if self.quirks.loses_case_after_null and len(others) > 1:
            others = [outputs.never_null(value) for value in others]
        return [(operand, value) for value in others]

    def sought(self, left: Code, right: Code) -> Code:
        # A subquery's rows are looked up by a key of their own type; a value that does not fit finds nothing,
        # not even the NULLs that would make NOT IN unknown.
        if self.quirks.seeks_by_key and left.type.is_text and left.type.collation != right.type.collation:
            raise Unknown("IN a subquery of another collation")
        if not self.quirks.seeks_by_key or not left.type.is_numeric:
            return left
        return left.then(left.type, outputs.fitting(right.type))

    def unify(self, compiler: Compiler, codes: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        return common_type(compiler, codes)

    def key(self, type_: SqlType, *, ordering: bool) -> Convert:
        if type_.is_text:
            return type_.collation.key
        if type_.family is Family.OPAQUE:
            raise Unknown("grouping or ordering by a type that is not modelled")
        self.buffered(type_)
        if type_.family is Family.DOUBLE and not ordering:
            return outputs.zero_without_sign
        if type_.loose and type_.family is Family.DECIMAL:
            scale = type_.scale or 0
            return lambda value: values.round_decimal(value, scale)
        return outputs.same

    def output(self, type_: SqlType) -> Convert | None:
        if type_.family is Family.INTEGER:
            return int
        if type_.family is Family.DOUBLE and type_.scale is not None:
            return outputs.fixed(type_.scale, self.quirks.keeps_signed_zero)
        if type_.family is Family.DOUBLE and not self.quirks.keeps_signed_zero:
            return outputs.unsigned_zero
        if type_.ragged:
            return None
        if self.quirks.division_keeps_digits and type_.family is Family.DECIMAL:
            return outputs.output_with_sign(type_.scale or 0)
        if type_.family is Family.DECIMAL:
            scale = type_.scale or 0
            return lambda value: values.checked_decimal(values.round_decimal(value, scale))
        return None

    def aggregate(self, compiler: Compiler, node: exp.Expression) -> Aggregate:
        return aggregate(compiler, node)

    def store(self, compiler: Compiler, column: Column, code: Code) -> Fn:
        stored = store(compiler, column, code)
        # Outside strict mode the server stores what it can instead of refusing.
        return stored if self.settings.strict else unsure(stored)

    def chosen(self, compiler: Compiler, branches: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        if not self.quirks.branches_keep_decimals:
            return self.unify(compiler, branches)
        if any(code.type.loose and code.type.family is Family.DECIMAL for code in branches):
            raise Unknown("a quotient as a branch of CASE")
        shown = [_shown(self, code) for code in branches]
        type_, unified = self.unify(compiler, shown)
        if type_.family not in (Family.DECIMAL, Family.DOUBLE):
            return type_, unified
        same = len({code.type for code in branches if code.type.family is not Family.NULL}) == 1
        ragged = not same or any(code.type.ragged for code in branches)
        return type_.but(ragged=ragged), unified

    def nullness(self, code: Code) -> Fn:
        # Whether an operand is NULL may be found out without computing it.
        return unsure(code.fn) if code.fails else code.fn

    def merged(self, compiler: Compiler, sides: Sequence[Code]) -> tuple[SqlType, list[Code]]:
        families = {side.type.family for side in sides} - {Family.NULL}
        loose = any(side.type.is_text and side.type.loose for side in sides)
        if (Family.TEXT in families and len(families) > 1) or loose:
            raise Unknown("a set operation over texts and others")
        return self.unify(compiler, sides)

    def require(self, feature: str) -> None:
        if self.quirks.is_old:
            raise Unknown(f"{feature} before MySQL 8")

    def buffered(self, type_: SqlType) -> None:
        if type_.family is Family.DOUBLE and type_.scale is not None:
            raise Unknown("a DOUBLE with a fixed number of decimals in a temporary table")
        if type_.ragged and type_.family is Family.DECIMAL:
            raise Unknown("a CASE over different decimals in a temporary table")

    def derived(self, type_: SqlType) -> SqlType:
        # A merged derived table computes with all digits of a quotient, a materialised one does not.
        if type_.loose and type_.family is Family.DECIMAL:
            raise Unknown("quotients in a derived table")
        self.buffered(type_)
        return type_.but(logical=False) if type_.logical else type_


class MariaDB(MySQL):
    """MariaDB 10.1 to 11.8: computes on with all digits of a quotient."""

    name = "mariadb"
    writing = replace(MySQL.writing, bare_text_defaults=False, refuses_own_reads=False)

    @classmethod
    def quirks_for(cls, version: tuple[int, ...]) -> Quirks:
        old = bool(version) and version < (10, 11)
        return Quirks(
            division_keeps_digits=True,
            narrow_literals=True,
            folds_signs=True,
            mixes_signs_as_decimal=True,
            replaces_lazily=True,
            rounds_conditions=old,
            loses_case_after_null=old,
            keeps_signed_zero=bool(version) and version[:2] != (10, 11),
            rounds_to_fixed=True,
            branches_keep_decimals=False,
            confuses_signs_in_lists=False,
            subject_decides_collation=False,
            limits_double_text=False,
            bad_number_text=None,
            blank_text_is_zero=False,
            seeks_by_key=True,
        )

    @classmethod
    def settings_for(cls, version: tuple[int, ...]) -> Settings:
        collation = "utf8mb4_uca1400_ai_ci" if version >= (11, 5) else "utf8mb4_general_ci"
        strict = not version or version >= (10, 2)
        return Settings(version=version, connection_collation=collation, strict=strict)


def _shown(dialect: MySQL, code: Code) -> Code:
    output = dialect.output(code.type) if code.type.family is Family.DECIMAL else None
    return code if output is None else code.then(code.type, output)
