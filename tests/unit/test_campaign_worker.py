"""How a worker talks with the coordinator."""

from contextlib import ExitStack
from ctypes import c_long
from multiprocessing import Pipe

import pytest

from acidtest.campaign.messages import Answer, Decision, Stop
from acidtest.campaign.plan import Settings
from acidtest.campaign.worker import Worker

SETTINGS = Settings(("simulated",), (), (), "simple", 7)


def test_ctrl_c_may_overtake_the_answer_to_a_question() -> None:
    """The coordinator tells to stop at once, and has answered before it heard that the worker left."""
    here, there = Pipe()
    worker = Worker(there, c_long(0), SETTINGS, {}, ExitStack())
    here.send(Stop(at_once=True))
    here.send(Answer(Decision.INVESTIGATE))
    assert worker._answer() is Decision.LEAVE
    worker._listen()
    assert not there.poll()


def test_an_answer_that_nobody_asked_for_is_a_defect() -> None:
    here, there = Pipe()
    worker = Worker(there, c_long(0), SETTINGS, {}, ExitStack())
    here.send(Answer(Decision.INVESTIGATE))
    with pytest.raises(AssertionError):
        worker._listen()
