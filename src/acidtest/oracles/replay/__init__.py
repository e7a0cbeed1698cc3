"""The walk along a history that the oracles `solver` and `views` share; `walk` is the place to start.

`timeline` is the order of things, `transactions` who is in which, `visibility` what a statement sees, `work`
which rows a write or locking read works on, `waits` for whom it must wait, `failures` how it may fail; with
these, `reads` and `writes` judge the statements.
"""

from acidtest.oracles.replay.transactions import SessionState
from acidtest.oracles.replay.violations import OF_THE_DATA, ViolationError
from acidtest.oracles.replay.walk import Replay

__all__ = ["OF_THE_DATA", "Replay", "SessionState", "ViolationError"]
