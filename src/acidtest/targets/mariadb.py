"""MariaDB 10.1 and later: how it differs from MySQL.

- Who waits is asked of InnoDB's status in every version: performance_schema is off by default, and has no
  table of row locks.
- NOWAIT and a lock time-out share the number 1205; the statement tells them apart.
- With innodb_snapshot_isolation (the default from 11.6.2 on) a write to a row that changed since the snapshot
  fails with 1020 and undoes the whole transaction.
  https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables
"""

from collections.abc import Mapping
from typing import ClassVar

from acidtest.model import ErrorKind
from acidtest.targets.mysql_family.errors import FAMILY, by_number
from acidtest.targets.mysql_family.innodb_target import InnoDBTarget
from acidtest.targets.mysql_family.session import MySQLSession
from acidtest.targets.mysql_family.waits import CountingWatch, FamilyWatch
from acidtest.targets.mysql_family.wire import Wire

OWN_NUMBERS: dict[ErrorKind, tuple[int, ...]] = {
    ErrorKind.CHECK: (4025,),
    ErrorKind.CONSTRAINT: (1906, 4108, 4157),
    ErrorKind.OUT_OF_RANGE: (1916, 4084, 4085, 4103),
    ErrorKind.BAD_VALUE: (
        1912, 1917, 1918, 1919, 1921, 1922, 1977, 1978, 4024, 4028, 4035, 4036, 4037, 4038, 4039,
        4040, 4041, 4042, 4043, 4044, 4045, 4046, 4048, 4049, 4050, 4051, 4076, 4101, 4102, 4104,
        4107, 4112, 4178, 4179, 4183, 4203, 4204,
    ),
    ErrorKind.SYNTAX: (
        1911, 1981, 4002, 4004, 4005, 4006, 4007, 4008, 4009, 4010, 4011, 4012, 4013, 4014, 4015,
        4016, 4017, 4018, 4019, 4020, 4021, 4023, 4029, 4032, 4074, 4078, 4079, 4080, 4083, 4099,
        4100, 4105, 4106, 4110, 4125, 4126, 4127, 4134, 4140, 4141, 4155, 4162, 4172, 4177, 4180,
        4196, 4201,
    ),
    ErrorKind.NO_SUCH_OBJECT: (
        1932, 1957, 1959, 1974, 1976, 4031, 4081, 4082, 4089, 4090, 4091, 4092, 4098, 4124, 4129,
        4156, 4161,
    ),
    ErrorKind.OBJECT_EXISTS: (1934, 1968, 1973, 1975, 4030, 4135, 4154, 4163),
    ErrorKind.UNSUPPORTED: (
        1901, 1903, 1904, 1905, 1907, 1910, 1923, 1965, 1967, 1970, 1971, 4022, 4026, 4047, 4053,
        4056, 4057, 4058, 4059, 4061, 4062, 4063, 4093, 4097, 4111, 4113, 4116, 4118, 4119, 4120,
        4121, 4122, 4123, 4128, 4130, 4131, 4132, 4137, 4138, 4142, 4143, 4144, 4152, 4153, 4158,
        4159, 4169, 4170, 4171, 4174, 4182, 4184, 4187, 4194, 4197, 4198,
    ),
    ErrorKind.TRANSACTION_STATE: (1929, 1930, 1953, 1954, 1964, 4060, 4145, 4146, 4147),
    ErrorKind.CANCELLED: (1931, 1969),
    ErrorKind.RESOURCES: (1920, 4003, 4075, 4139),
    ErrorKind.ACCESS: (1960, 1961, 1962, 1979, 3159, 4150, 4151),
    ErrorKind.INTERNAL: (1939, 4027, 4064, 4067, 4068, 4086, 4087, 4148, 4173, 4185, 4186),
}  # fmt: skip
"""What MariaDB added or gave another meaning: https://mariadb.com/docs/server/reference/error-codes"""


class MariaDBTarget(InnoDBTarget):
    """MariaDB."""

    dbms = "mariadb"
    kinds: ClassVar[Mapping[int, ErrorKind]] = {**FAMILY, **by_number(OWN_NUMBERS)}

    def prepare_server(self) -> None:
        super().prepare_server()
        if self._server is not None:
            # Its data die with it, and a CREATE TABLE that waits for the disk takes twice as long.
            self._control.ask("SET GLOBAL sync_frm = OFF")

    def make_watch(self, wire: Wire, sessions: Mapping[int, MySQLSession]) -> FamilyWatch:
        if (10, 2) <= self.version_number() < (10, 5):
            return CountingWatch(wire, sessions)
        return super().make_watch(wire, sessions)
