"""Errors of the family by number, never by text. A DBMS adds or overrides entries in its own file."""

from collections.abc import Mapping

from acidtest.model import ErrorKind, TransactionState, Undone

SERVER_LOST = 2013
"""The client's own number for a connection that ended while a reply was due."""

BY_KIND: dict[ErrorKind, tuple[int, ...]] = {
    ErrorKind.DEADLOCK: (1213, 1614),
    ErrorKind.LOCK_TIMEOUT: (1205, 1907),
    ErrorKind.LOCK_NOT_AVAILABLE: (3572,),
    ErrorKind.RECORD_CHANGED: (1020,),
    ErrorKind.DUPLICATE_KEY: (1022, 1062, 1169, 1586, 1859),
    ErrorKind.NOT_NULL: (1048, 1263, 1364),
    ErrorKind.FOREIGN_KEY: (1216, 1217, 1451, 1452, 1761, 1762),
    ErrorKind.CHECK: (3819, 4025),
    ErrorKind.CONSTRAINT: (1557, 1748, 3673),
    ErrorKind.OUT_OF_RANGE: (1264, 1690, 1916, 3156),
    ErrorKind.TRUNCATION: (1265, 1406),
    ErrorKind.DIVISION_BY_ZERO: (1365,),
    ErrorKind.BAD_VALUE: (1292, 1366, 1367, 1411, 1416, 1441, 3140, 3141, 3854),
    ErrorKind.SYNTAX: (1055, 1064, 1065, 1103, 1110, 1111, 1140, 1149, 1221, 1222, 1241, 1242, 1248, 1582),
    ErrorKind.NO_SUCH_OBJECT: (
        1008, 1046, 1049, 1051, 1054, 1072, 1091, 1109, 1128, 1146, 1176, 1193, 1243, 1305, 1360, 1539, 3719,
    ),
    ErrorKind.OBJECT_EXISTS: (1007, 1050, 1060, 1061, 1068, 1304, 1359, 1537, 1826),
    ErrorKind.SCHEMA_CHANGED: (1412, 1615, 1684, 3749),
    ErrorKind.UNSUPPORTED: (1178, 1214, 1235, 1286, 1295, 1845, 1846),
    ErrorKind.READ_ONLY: (1036, 1290, 1792, 1836),
    ErrorKind.TRANSACTION_STATE: (
        1099, 1100, 1179, 1192, 1223, 1398, 1399, 1400, 1401, 1402, 1568, 1613, 1765, 1793,
    ),
    ErrorKind.CANCELLED: (1317, 1028, 1969, 3024),
    ErrorKind.RESOURCES: (1021, 1037, 1038, 1040, 1041, 1114, 1135, 1153, 1197, 1203, 1206, 1226, 1436, 1637),
    ErrorKind.ACCESS: (1044, 1045, 1142, 1143, 1227, 1370, 1410, 1698),
    ErrorKind.CONNECTION_LOST: (1053, 1152, 1159, 1160, 1161, 1927, 2006, 2013, 2055, 3169, 4031),
    ErrorKind.INTERNAL: (1030, 1034, 1105, 1180, 1181, 1194, 1195, 1201, 1457, 1696, 1712, 1815, 1877),
}  # fmt: skip

FAMILY: Mapping[int, ErrorKind] = {errno: kind for kind, numbers in BY_KIND.items() for errno in numbers}
"""What the numbers mean on all servers of the family, unless a DBMS says otherwise."""

_CONFLICTS = {
    ErrorKind.DEADLOCK,
    ErrorKind.SERIALIZATION_FAILURE,
    ErrorKind.WRITE_CONFLICT,
    ErrorKind.RECORD_CHANGED,
    ErrorKind.LOCK_TIMEOUT,
}


def what_was_undone(kind: ErrorKind, before: TransactionState, after: TransactionState) -> Undone:
    """What an error took back, from its meaning and from where the server says the transaction stands.

    A transaction that is over after another kind of error need not have been undone: a failing DDL statement
    has committed it first.
    """
    if kind is ErrorKind.CONNECTION_LOST:
        return Undone.CONNECTION
    ended = before is not TransactionState.NONE and after is not TransactionState.OPEN
    if kind is ErrorKind.DEADLOCK or (kind in _CONFLICTS and ended):
        return Undone.TRANSACTION
    return Undone.STATEMENT
