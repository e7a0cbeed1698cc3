"""Random tables and writes with what generated cases have little of: foreign keys with their actions, checks,
generated columns, partial indexes, upserts with conditions, MERGE, RETURNING, writes of several tables."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

MYSQL = frozenset({"mysql", "mariadb", "tidb"})
STATEMENTS = 12
"""So many on the tables of one set-up."""


@dataclass(frozen=True)
class Maker:
    """Draws text for one DBMS. The tables: p(id, k, v), c(id, pid, k, n, s, d), q(a, b)."""

    random: Random
    dbms: str
    version: str

    @property
    def is_mysql(self) -> bool:
        return self.dbms in MYSQL

    @property
    def returns(self) -> bool:
        """Whether every write may have RETURNING."""
        return self.dbms in ("postgres", "sqlite", "duckdb")

    def pick(self, *options: str) -> str:
        """One of some texts."""
        return self.random.choice(options)

    def number(self) -> str:
        return self.pick("0", "1", "2", "3", "4", "5", "7", "10", "NULL")

    def key(self) -> str:
        return str(self.random.choice((1, 2, 3, 4, 5, 6, 8, 9)))

    def word(self) -> str:
        return self.pick("'a'", "'b'", "'B'", "'ab'", "''", "NULL", "'x '")

    def day(self) -> str:
        return self.pick("'2024-01-01'", "'2024-02-29'", "NULL")

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # -- tables

    def setup(self) -> list[str]:
        """Three tables with rows."""
        unique = self.chance(0.7)
        check = ", CHECK (v < 50)" if self.chance(0.5) else ""
        key = ", UNIQUE (k)" if unique else ""
        parent = f"CREATE TABLE p (id INT PRIMARY KEY, k INT, v INT DEFAULT 7{key}{check})"
        refers = self.pick("id", "id", "k") if unique else "id"
        statements = [parent, self.child(refers), "CREATE TABLE q (a INT, b INT)", *self.indexes()]
        statements.append(
            "INSERT INTO p (id, k, v) VALUES (1, 10, 1), (2, 20, 2), (3, NULL, 3), (4, 40, NULL)"
        )
        child = "INSERT INTO c (id, pid, k, n, s, d) VALUES "
        one, two = ("1", "2") if refers == "id" else ("10", "20")
        rows = [f"(1, {one}, 1, 1, 'a', '2024-01-01')", f"(2, {two}, NULL, 2, 'b', NULL)"]
        rows += [f"(3, {one}, 3, NULL, 'c', NULL)", "(4, NULL, 4, 4, NULL, '2024-03-01')"]
        statements.append(child + ", ".join(rows))
        statements.append("INSERT INTO q VALUES (1, 1), (1, 2), (2, 2), (NULL, 3), (3, NULL), (9, 9)")
        return statements

    def child(self, refers: str) -> str:
        """A table that may refer to p."""
        actions = ["CASCADE", "SET NULL", "RESTRICT", "NO ACTION"]
        parts = ["id INT PRIMARY KEY", "pid INT", "k INT DEFAULT 5", "n INT", "s VARCHAR(5)", "d DATE"]
        if self.chance(0.5) and self.dbms != "duckdb":
            kind = self.pick("STORED", "VIRTUAL")
            if self.dbms == "postgres" and int(self.version.split(".")[0]) < 18:
                kind = "STORED"
            parts.append(f"g INT GENERATED ALWAYS AS (n + 1) {kind}")
        if self.chance(0.4):
            parts.append("CHECK (n <> 99)")
        if self.chance(0.7) and self.dbms not in ("duckdb", "tidb", "sqlite"):
            delete, update = self.pick(*actions), self.pick(*actions)
            parts.append(f"FOREIGN KEY (pid) REFERENCES p ({refers}) ON DELETE {delete} ON UPDATE {update}")
        return f"CREATE TABLE c ({', '.join(parts)})"

    def indexes(self) -> list[str]:
        if self.dbms == "postgres":
            options = [
                "CREATE UNIQUE INDEX c1 ON c (k) WHERE n > 1",
                "CREATE UNIQUE INDEX c1 ON c (n) NULLS NOT DISTINCT",
                "CREATE UNIQUE INDEX c1 ON c (lower(s))",
                "CREATE UNIQUE INDEX c1 ON c (k, s)",
                "ALTER TABLE c ADD CONSTRAINT c1 UNIQUE (k) DEFERRABLE",
            ]
            if int(self.version.split(".")[0]) < 15:
                del options[1]
        elif self.is_mysql:
            options = ["CREATE UNIQUE INDEX c1 ON c (s(1))", "CREATE UNIQUE INDEX c1 ON c (k, s)"]
        elif self.dbms == "sqlite":
            options = ["CREATE UNIQUE INDEX c1 ON c (k) WHERE n > 1", "CREATE UNIQUE INDEX c1 ON c (k, s)"]
        else:
            options = []
        options.append("CREATE UNIQUE INDEX c1 ON c (k)")
        return [self.random.choice(options)] if self.chance(0.7) else []

    # -- statements

    def statements(self) -> list[str]:
        makers: list[Callable[[], str]] = [
            self.insert,
            self.insert,
            self.insert_select,
            self.update,
            self.update,
            self.delete,
            self.upsert,
            self.upsert,
            self.joined_update,
            self.joined_delete,
            self.parent,
            self.parent,
        ]
        if self.dbms in ("postgres", "duckdb"):
            makers.append(self.merge)
        return [self.random.choice(makers)() for _ in range(STATEMENTS)]

    def returning(self, names: Sequence[str]) -> str:
        share = 0.3 if self.returns else 0.0
        return f" RETURNING {self.random.choice(names)}" if self.chance(share) else ""

    def condition(self) -> str:
        return self.pick(
            f"id = {self.key()}",
            f"id > {self.key()}",
            f"n = {self.number()}",
            "k IS NULL",
            f"s = {self.word()}",
            "n IS NOT NULL AND k > 1",
            "pid IN (SELECT a FROM q)",
            "id IN (SELECT x.n FROM c AS x)",
        )

    def row(self) -> str:
        default = "DEFAULT" if self.dbms != "sqlite" and self.chance(0.2) else self.number()
        return f"({self.key()}, {self.number()}, {default}, {self.number()}, {self.word()}, {self.day()})"

    def rows(self) -> str:
        return ", ".join(self.row() for _ in range(self.random.choice((1, 1, 2, 3))))

    def insert(self) -> str:
        if self.is_mysql and self.chance(0.3):
            return f"INSERT INTO c SET id = {self.key()}, n = {self.number()}, k = n + 1, pid = n"
        if self.is_mysql and self.chance(0.2):
            return f"INSERT INTO c (id, n, k) VALUES ({self.key()}, id + 1, n + k)"
        if self.chance(0.2):
            return f"INSERT INTO c (id, k) VALUES ({self.key()}, (SELECT MAX(b) FROM q))"
        how = self.pick("IGNORE ", "", "") if self.is_mysql else ""
        replace = self.is_mysql and not how and self.chance(0.15)
        head = "REPLACE INTO" if replace else f"INSERT {how}INTO"
        back = "" if self.dbms != "mariadb" else self.pick("", "", " RETURNING id, n + 1")
        back = back or self.returning(["*", "id, k", "n + 1 AS x, s"])
        return f"{head} c (id, pid, k, n, s, d) VALUES {self.rows()}{back}"

    def insert_select(self) -> str:
        source = self.pick("SELECT a + 20, b FROM q WHERE a > 1", "SELECT a, b FROM q WHERE b = 9")
        if self.chance(0.4):
            return f"INSERT INTO c (id, s, d) SELECT id + 10, s, d FROM c WHERE {self.condition()}"
        return f"INSERT INTO c (id, k) {source}{self.returning(['*', 'id'])}"

    def assigned(self) -> str:
        default = "" if self.dbms == "sqlite" else "DEFAULT"
        options = [
            f"n = {self.number()}",
            "n = n + 1",
            "k = n",
            f"k = {self.number()}",
            f"pid = {self.number()}",
            f"s = {self.word()}",
            f"d = {self.day()}",
            f"id = id + {self.pick('10', '1')}",
            "n = 99",
            "k = (SELECT MIN(a) FROM q)",
        ]
        if default:
            options += [f"k = {default}", f"n = {default}"]
        if self.is_mysql:
            options += ["n = DEFAULT(k) + 1", "k = DEFAULT(n)"]
        chosen = self.random.sample(options, self.random.choice((1, 1, 2)))
        if len({one.split(" ")[0] for one in chosen}) < len(chosen):
            chosen = chosen[:1]
        if self.dbms == "postgres" and len(chosen) == 2 and self.chance(0.2):
            pairs = [one.split(" = ", 1) for one in chosen]
            return f"({pairs[0][0]}, {pairs[1][0]}) = ({pairs[0][1]}, {pairs[1][1]})"
        return ", ".join(chosen)

    def limited(self) -> str:
        if not self.is_mysql or not self.chance(0.3):
            return ""
        order = self.pick(" ORDER BY id", " ORDER BY n, id DESC", " ORDER BY s", "")
        return f"{order} LIMIT {self.pick('1', '2', '3', '0')}"

    def update(self) -> str:
        where = f" WHERE {self.condition()}" if self.chance(0.85) else ""
        if self.dbms == "sqlite" and "SELECT" in where:
            where = ""
        back = self.returning(["*", "id, n", "id + 1, s"])
        return f"UPDATE c SET {self.assigned()}{where}{self.limited()}{back}"

    def delete(self) -> str:
        back = self.returning(["*", "id, n"])
        if self.dbms == "mariadb" and self.chance(0.2):
            back = " RETURNING id, s"
        return f"DELETE FROM c WHERE {self.condition()}{self.limited()}{back}"

    def parent(self) -> str:
        """Writes of the table that others refer to."""
        return self.pick(
            f"DELETE FROM p WHERE id = {self.key()}",
            f"UPDATE p SET id = id + 10 WHERE id = {self.key()}",
            f"UPDATE p SET v = {self.number()} WHERE id < 3",
            "UPDATE p SET v = v * 10",
            f"INSERT INTO p (id, k) VALUES ({self.key()}, {self.number()})",
            f"UPDATE p SET k = {self.number()} WHERE id = {self.key()}",
            f"DELETE FROM p WHERE id > {self.key()}",
        )

    def upsert(self) -> str:
        head = f"INSERT INTO c (id, pid, k, n, s, d) VALUES {self.rows()}"
        if self.is_mysql:
            alias = self.dbms == "mysql" and self.chance(0.2)
            value = self.pick("n + 1", "VALUES(n)", "n + VALUES(k)", self.number(), "VALUES(k) + 1")
            if alias:
                return f"{head} AS new ON DUPLICATE KEY UPDATE n = new.n + 1, d = new.d"
            more = self.pick("", ", s = VALUES(s)", ", d = VALUES(d)", ", k = n")
            return f"{head} ON DUPLICATE KEY UPDATE n = {value}{more}"
        target = self.pick("(id) ", "(id) ", "(id) ", "(k) ", "(k) WHERE n > 1 ")
        if self.dbms == "duckdb":
            target = "(id) "
        if self.chance(0.3):
            return f"{head} ON CONFLICT {self.pick('', target)}DO NOTHING{self.returning(['*', 'id'])}"
        value = self.pick("EXCLUDED.n", "c.n + 1", "c.n + EXCLUDED.k", self.number(), "n + 1")
        more = self.pick("", ", s = EXCLUDED.s", ", d = EXCLUDED.d")
        where = self.pick(
            "", "", " WHERE c.n > 1", " WHERE EXCLUDED.n IS NOT NULL", " WHERE c.s = EXCLUDED.s"
        )
        back = self.returning(["*", "id, n"])
        return f"{head} ON CONFLICT {target}DO UPDATE SET n = {value}{more}{where}{back}"

    def joined_update(self) -> str:
        on = self.pick("c.n = q.a", "c.id = q.a", "c.k = q.b", "c.id = q.b AND c.n = q.a", "c.id > q.a")
        value = self.pick("q.b", "q.a + 1", "77", "c.n + q.a", "q.b")
        column = self.pick("n", "k", "pid", "n")
        if not self.is_mysql:
            back = self.returning(["c.id, q.b", "*"]) if self.dbms == "postgres" else ""
            return f"UPDATE c SET {column} = {value} FROM q WHERE {on}{back}"
        if self.chance(0.3):
            second = self.pick("q.b = 5", "q.a = q.a + 1", "q.b = q.b")
            return f"UPDATE c, q SET c.{column} = {value}, {second} WHERE {on}"
        if self.chance(0.2):
            return f"UPDATE c JOIN q ON {on} SET q.b = {self.number()} WHERE c.id > 1"
        join = self.pick("JOIN", "LEFT JOIN")
        return f"UPDATE c {join} q ON {on} SET c.{column} = {value}, c.s = {self.word()}"

    def joined_delete(self) -> str:
        on = self.pick("c.n = q.a", "c.id = q.a", "c.k = q.b")
        if not self.is_mysql:
            if self.dbms == "sqlite":
                return self.delete()
            back = self.returning(["c.id, q.b", "c.*"]) if self.dbms == "postgres" else ""
            return f"DELETE FROM c USING q WHERE {on}{back}"
        return self.pick(
            f"DELETE c FROM c JOIN q ON {on}",
            f"DELETE c, q FROM c JOIN q ON {on} WHERE q.b = 2",
            f"DELETE FROM c USING c JOIN q ON {on}",
            f"DELETE q FROM c LEFT JOIN q ON {on}",
            "DELETE x FROM c AS x, q WHERE x.id = q.a",
        )

    def merge(self) -> str:
        on = self.pick("c.n = q.a", "c.id = q.a", "c.id = q.b")
        matched = self.pick(
            "WHEN MATCHED AND c.n > 1 THEN UPDATE SET n = q.b WHEN MATCHED THEN DELETE",
            "WHEN MATCHED THEN UPDATE SET n = q.b, k = c.n",
            "WHEN MATCHED THEN DO NOTHING",
            "WHEN MATCHED AND q.b = 2 THEN DELETE",
        )
        missing = self.pick(
            "",
            " WHEN NOT MATCHED AND q.a > 2 THEN INSERT (id, n) VALUES (q.a, q.b)",
            " WHEN NOT MATCHED THEN INSERT (id, k) VALUES (q.a + 30, DEFAULT)",
            " WHEN NOT MATCHED BY SOURCE THEN DELETE",
            " WHEN NOT MATCHED BY SOURCE AND c.k > 1 THEN UPDATE SET k = 1",
        )
        if self.dbms == "postgres" and int(self.version.split(".")[0]) < 17 and "SOURCE" in missing:
            missing = ""
        return f"MERGE INTO c USING q ON {on} {matched}{missing}"


def feature_cases(random: Random, dbms: str, version: str) -> Iterator[tuple[list[str], list[str]]]:
    """Endless set-ups with statements on rows."""
    while True:
        maker = Maker(random, dbms, version)
        yield maker.setup(), maker.statements()
