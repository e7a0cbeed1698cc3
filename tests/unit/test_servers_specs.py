"""Which version a specification means."""

import pytest

from acidtest.errors import UsageError
from acidtest.servers import Spec, api
from acidtest.servers.specs import nearest_first, parse_spec, version_key


def test_name_and_version_are_split() -> None:
    assert parse_spec("mariadb@10.11") == Spec("mariadb", "10.11")
    assert parse_spec("PostgreSQL") == Spec("postgres")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@",
        "mysql@",
        "mysql@x",
        "my sql",
        "mysql@9@7",
        "mysql@9.",
        "../mysql",
        "mysql@>=",
        "mysql@8*",
        "tidb@abcdef",
    ],
)
def test_malformed_specification_is_refused_with_the_form_that_is_expected(text: str) -> None:
    with pytest.raises(UsageError, match="NAME@VERSION"):
        parse_spec(text)


def test_unknown_server_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="mariadb, mysql, postgres, seekdb, tidb"):
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


def test_all_and_ranges_accept_what_is_in_them() -> None:
    assert parse_spec("mariadb@*").accepts("mariadb", "10.1.8")
    eights = parse_spec("mysql@>=8 <9")
    assert [eights.accepts("mysql", version) for version in ("5.7.22", "8.0.12", "8.4", "9.0.0")] == [
        False,
        True,
        True,
        False,
    ]
    assert parse_spec("mysql@<=8.0").accepts("mysql", "8.0.33")
    assert not parse_spec("mysql@>8.0").accepts("mysql", "8.0.33")
    assert parse_spec("mysql@>8.0,<=9").accepts("mysql", "9.7.4")
    assert parse_spec("mysql@*").means_several
    assert not parse_spec("mysql@8").means_several


@pytest.mark.parametrize(
    "wish",
    ["d6be9105e6c4", "d6be910", "v1.1.0-beta.0.20220627062839-d6be9105e6c4", "d6be9105e6c4" + "0" * 28],
)
def test_a_commit_is_found_under_the_version_of_its_build(wish: str) -> None:
    spec = parse_spec(f"tidb@{wish}")
    assert spec.accepts("tidb", "0.0.0-20220627062839-d6be9105e6c4")
    assert not spec.accepts("tidb", "0.0.0-20220627062839-e4e814fdc0af")
    assert not spec.accepts("tidb", "5.4.2")


def test_a_build_of_a_commit_is_older_than_every_release() -> None:
    ordered = sorted(["4.0.9", "0.0.0-20260101000000-d6be9105e6c4", "8.5.4"], key=version_key)
    assert ordered[0].startswith("0.0.0")


def test_several_releases_are_named_one_by_one_oldest_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path))
    assert api.matching("mysql@>=8 <8.0.20") == ["mysql@8.0.12", "mysql@8.0.15"]
    assert api.matching("mysql@8") == ["mysql@8"]
    assert "mariadb@10.1.8" in api.matching("mariadb@*")
    with pytest.raises(UsageError, match=r"mysql@>=10 cannot be had; nearest first, there is: mysql@9\.7"):
        api.matching("mysql@>=10")


def test_an_exact_release_is_taken_from_the_source_that_lists_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path))
    assert api._choose(api.parse_spec("postgres@18.6")).source == "maven"
    assert api._choose(api.parse_spec("postgres@18")).source == "pypi"


def test_a_series_means_its_newest_release(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path))
    chosen = {wish: api._choose(api.parse_spec(wish)) for wish in ("mysql@8", "mysql@5.7", "postgres@12")}
    assert {wish: release.version for wish, release in chosen.items()} == {
        "mysql@8": "8.0.33",
        "mysql@5.7": "5.7.22",
        "postgres@12": "12.22",
    }


def test_all_of_none_installed_names_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("ACIDTEST_CACHE", str(tmp_path))
    with pytest.raises(UsageError, match=r"no tidb@\* is installed; run: acidtest server install 'tidb@\*'"):
        api.installed_for("tidb@*")
