"""The cases that the benchmark runs: small ones, one per kind of work for the executor."""

from acidtest.casefile import parse_case
from acidtest.model import Case

_SETUP = """\
-- setup
CREATE TABLE account (id INT PRIMARY KEY, balance INT);
INSERT INTO account VALUES (1, 10), (2, 20), (3, 30);
-- schedule
"""

_PLAIN = """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM account;
/* tx1 */ UPDATE account SET balance = 11 WHERE id = 1;
/* tx2 */ UPDATE account SET balance = 21 WHERE id = 2;
/* tx2 */ SELECT * FROM account WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
"""

_READS = """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM account;
/* tx2 */ SELECT * FROM account WHERE balance > 10;
/* tx1 */ UPDATE account SET balance = 11 WHERE id = 1;
/* tx2 */ SELECT * FROM account WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
"""

_ONE_WAIT = """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE account SET balance = 11 WHERE id = 1;
/* tx2 */ UPDATE account SET balance = 12 WHERE id = 1;
/* tx1 */ SELECT * FROM account;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM account;
/* tx2 */ COMMIT;
"""

_CHAIN = """\
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ UPDATE account SET balance = 11 WHERE id = 1;
/* tx2 */ UPDATE account SET balance = 22 WHERE id = 2;
/* tx2 */ UPDATE account SET balance = 12 WHERE id = 1;
/* tx3 */ UPDATE account SET balance = 23 WHERE id = 2;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ COMMIT;
"""


def bench_cases(waits: bool) -> dict[str, Case]:
    """By kind; an engine whose statements never wait gets those without conflicts only, where one of them
    writes, because some such engines admit a single writer."""
    kinds = {"plain": _PLAIN, "one-wait": _ONE_WAIT, "chain": _CHAIN} if waits else {"plain": _READS}
    return {kind: parse_case(_SETUP + schedule, f"bench-{kind}") for kind, schedule in kinds.items()}
