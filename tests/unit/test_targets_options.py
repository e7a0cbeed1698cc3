"""Specifications with options (`tidb@8.5.4?mode=optimistic`), and those that mean several targets."""

import pytest

from acidtest.errors import UsageError
from acidtest.targets import resolve
from acidtest.targets.resolve import check_spec, expand_spec, make_target


def chosen(spec: str) -> str:
    name, _address = check_spec(spec)
    return make_target(resolve._variant(name, spec)).__name__


def test_an_option_chooses_the_variant_of_the_target() -> None:
    assert chosen("tidb@8.5.4") == "TiDBTarget"
    assert chosen("tidb@8.5.4?mode=pessimistic") == "TiDBTarget"
    assert chosen("tidb?mode=optimistic") == "OptimisticTiDBTarget"
    assert chosen("tidb://root@127.0.0.1:4000/?mode=optimistic") == "OptimisticTiDBTarget"
    assert chosen("tidb://root@localhost/?socket=/tmp/x.sock&mode=optimistic") == "OptimisticTiDBTarget"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("tidb?colour=red", r"tidb has no option 'colour' .*known are: mode"),
        ("tidb?mode=hopeful", "mode of tidb is one of pessimistic, optimistic, not 'hopeful'"),
        ("tidb?mode=", "mode of tidb is one of pessimistic, optimistic, not ''"),
        ("mysql@9.7?mode=optimistic", "mysql has no option 'mode' .*known are: log_bin"),
        ("mysql@9.7?log_bin=maybe", "log_bin of mysql is one of off, on, not 'maybe'"),
        ("mysql://root@127.0.0.1/?log_bin=on", "mysql has no option 'log_bin' .*known are: socket"),
        ("seekdb?log_bin=on", "seekdb has no option 'log_bin' .*known are: none"),
        ("mysql://root@127.0.0.1/?mode=optimistic", "mysql has no option 'mode' .*known are: socket"),
    ],
)
def test_options_that_do_not_exist_are_refused(spec: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        check_spec(spec)


def test_an_option_may_be_for_the_server_that_is_started() -> None:
    assert chosen("mysql@9.7?log_bin=on") == "MySQLTarget"
    assert chosen("mariadb@10.11?log_bin=off") == "MariaDBTarget"


def test_one_target_stays_one() -> None:
    for spec in ("sqlite", "mysql@9.7", "tidb@8.5.4?mode=optimistic", "mysql://root@127.0.0.1:3306/"):
        assert expand_spec(spec) == [spec]


def test_several_are_all_that_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Have:
        spec = "tidb@5.4.2"

    monkeypatch.setattr("acidtest.servers.installed_for", lambda wish: [Have()] if wish == "tidb@*" else [])
    assert expand_spec("tidb@*?mode=optimistic") == ["tidb@5.4.2?mode=optimistic"]
