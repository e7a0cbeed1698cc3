"""Options of a specification that decide how a server of our own is started."""

import pytest

from acidtest.targets.resolve import open_target
from tests.conformance.driver import Driver
from tests.conformance.profiles import SETUP
from tests.conftest import provide


@pytest.mark.parametrize("server", ["mysql@9.7", "mariadb@10.11"])
def test_the_binary_log_can_be_had(server: str) -> None:
    provide(server)
    for option, on in (("", 0), ("?log_bin=off", 0), ("?log_bin=on", 1)):
        with open_target(server + option) as target:
            assert target.label == server + option
            assert target.settings()["log_bin"] == ("ON" if on else "OFF")
            target.rebuild(SETUP)
            driver = Driver(target)
            (session,) = driver.open()
            assert driver.rows(session, "SELECT @@log_bin") == ((on,),)
            driver.succeed(session, "BEGIN", "UPDATE parent SET v = 0", "COMMIT")
            driver.close()
            assert target.restart()
            assert target.settings()["log_bin"] == ("ON" if on else "OFF")
