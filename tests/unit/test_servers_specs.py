"""Which version a specification means."""

import pytest

from acidtest.errors import UsageError
from acidtest.servers import Spec, api
from acidtest.servers.specs import nearest_first, parse_spec, version_key


def test_name_and_version_are_split() -> None:
    assert parse_spec("mariadb@10.11") == Spec("mariadb", "10.11")
    assert parse_spec("PostgreSQL") == Spec("postgres")


@pytest.mark.parametrize(
    "text", ["", "@", "mysql@", "mysql@x", "my sql", "mysql@9@7", "mysql@9.", "../mysql"]
)
def test_malformed_specification_is_refused_with_the_form_that_is_expected(text: str) -> None:
    with pytest.raises(UsageError, match="NAME@VERSION"):
        parse_spec(text)


def test_unknown_server_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="mariadb, mysql, postgres, seekdb"):
        api.parse_spec("oracle@23")


def test_series_accepts_its_releases_only() -> None:
    spec = Spec("mysql", "9")
    assert spec.accepts("mysql", "9.7.4")
    assert not spec.accepts("mysql", "90.1")
    assert not spec.accepts("mariadb", "9.7.4")
    assert not Spec("mariadb", "10.1").accepts("mariadb", "10.11.19")


def test_exact_wish_may_come_from_a_series_of_a_source() -> None:
    assert Spec("mariadb", "10.11.19").may_accept("mariadb", "10.11")
    assert not Spec("mariadb", "10.11.19").may_accept("mariadb", "10.5")


def test_versions_are_ordered_by_number_and_a_series_stands_for_its_newest() -> None:
    ordered = sorted(["10.11.2", "9.7", "10.5", "10.11", "10.11.19"], key=version_key)
    assert ordered == ["9.7", "10.5", "10.11.2", "10.11.19", "10.11"]


def test_nearest_versions_come_first() -> None:
    assert nearest_first("10.6", ["11.8", "10.11.19", "10.5"])[0] == "10.5"
    assert nearest_first("", ["9.7", "5.6", "11.8"])[0] == "11.8"


def test_unknown_version_lists_what_can_be_had_nearest_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path))
    with pytest.raises(
        UsageError, match=r"mariadb@10\.6 cannot be had; nearest first, there is: mariadb@10\.5, "
    ):
        api.install("mariadb@10.6")


def test_start_of_a_server_that_is_not_installed_names_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path))
    with pytest.raises(UsageError, match=r"acidtest server install seekdb@1\.4"):
        api.start("seekdb@1.4")
