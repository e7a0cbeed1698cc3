"""Reading the machine's apt sources and apt's answers."""

from pathlib import Path

import pytest

from acidtest.servers import InstallFailedError
from acidtest.servers.sources import apt
from acidtest.servers.sources.apt_sources import Mirror, debian_mirrors
from acidtest.servers.sources.debian import upstream_version

DEB822 = """\
# the main archive
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /keys/debian.gpg

Types: deb
URIs: http://off.example/debian
Suites: sid
Enabled: no

Types: deb
URIs: http://other.example/node
Suites: nodistro
"""

ONE_LINE = """\
# deb http://commented.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb [arch=amd64 signed-by=/keys/a.gpg] http://mirror.example/debian trixie main contrib
deb http://security.example/debian-security trixie-security main
deb http://other.example/apt cloud-bookworm main
"""


def apt_folder(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


def test_mirrors_in_deb822_notation_keep_an_inline_key(tmp_path: Path) -> None:
    (apt_folder(tmp_path) / "sources.list.d" / "debian.sources").write_text(DEB822)
    main, security = debian_mirrors(tmp_path)
    assert (main.uri, main.security) == ("http://mirror.example/debian", False)
    assert main.signed_by.splitlines()[1] == " -----BEGIN PGP PUBLIC KEY BLOCK-----"
    assert security == Mirror("http://mirror.example/debian-security", "/keys/debian.gpg", security=True)


def test_mirrors_in_one_line_notation(tmp_path: Path) -> None:
    (apt_folder(tmp_path) / "sources.list").write_text(ONE_LINE)
    assert debian_mirrors(tmp_path) == [
        Mirror("http://mirror.example/debian", "/keys/a.gpg"),
        Mirror("http://security.example/debian-security", security=True),
    ]


def test_mirror_is_used_for_another_suite() -> None:
    stanza = Mirror("http://mirror.example/debian", "/keys/a.gpg").stanza("sid")
    assert "Suites: sid\n" in stanza
    assert "Signed-By: /keys/a.gpg\n" in stanza


def test_no_apt_configuration_at_all(tmp_path: Path) -> None:
    assert debian_mirrors(tmp_path / "missing") == []


LISTING = """\
server-core
  Depends: libssl3
 |Depends: perl
  Depends: libperl-alternative
  Depends: <libvirtual>
    libreal
    libother
  PreDepends: libc6
libssl3
  Depends: libc6
  Depends: debconf
libreal
  Depends: zlib1g:any
libc6
perl
  Depends: libperl5
libperl5
"""


def test_closure_takes_libraries_only_and_the_first_of_several_choices() -> None:
    graph = apt._dependencies(LISTING)
    assert set(apt._libraries(graph, ["server-core"])) == {"libssl3", "libreal", "libc6", "zlib1g"}


def test_upstream_version_is_found_in_debians() -> None:
    assert upstream_version("1:11.8.9+ds-4") == "11.8.9"
    assert upstream_version("9.7.4-2") == "9.7.4"
    assert upstream_version("1:10.5.29-0+deb11u1") == "10.5.29"


def test_truncated_package_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "server.deb"
    broken.write_bytes(b"!<arch>\ndebian-binary   1410122664  0     0     100644  4         `\n2.")
    with pytest.raises(InstallFailedError, match=r"unpacking server\.deb"):
        apt.unpack([broken], tmp_path / "tree")
