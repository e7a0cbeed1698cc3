"""Errors of the family by number, never by text. A DBMS adds or overrides entries in its own file.

The numbers of MySQL: https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html. Those that
are only ever warnings, or belong to replication, are left out. From 1900 on other servers have numbers of
their own, or give them another meaning.
"""

from collections.abc import Mapping

from acidtest.model import ErrorKind, TransactionState, Undone

SERVER_LOST = 2013
"""The client's own number for a connection that ended while a reply was due."""

BY_KIND: dict[ErrorKind, tuple[int, ...]] = {
    ErrorKind.DEADLOCK: (1213, 1614, 3058, 3132),
    ErrorKind.LOCK_TIMEOUT: (1205, 1689, 3133),
    ErrorKind.LOCK_NOT_AVAILABLE: (3177, 3572),
    ErrorKind.RECORD_CHANGED: (1020,),
    ErrorKind.WRITE_CONFLICT: (3101,),
    ErrorKind.DUPLICATE_KEY: (1022, 1062, 1169, 1569, 1586, 1859, 3026),
    ErrorKind.NOT_NULL: (1048, 1138, 1263, 1364, 1423, 3673),
    ErrorKind.FOREIGN_KEY: (1216, 1217, 1451, 1452, 1701, 1761, 1762, 3008, 3730),
    ErrorKind.CHECK: (1369, 3819),
    ErrorKind.CONSTRAINT: (
        1005, 1025, 1090, 1171, 1173, 1215, 1526, 1553, 1557, 1644, 1725, 1737, 1748, 1821, 1822,
        1823, 1824, 1825, 1828, 1829, 1830, 1832, 1833, 1834, 1863, 3105, 3108, 3734, 3750, 3776,
        3780, 3959, 4129, 6125,
    ),
    ErrorKind.OUT_OF_RANGE: (1264, 1441, 1467, 1690, 3155, 3669, 3752, 4074),
    ErrorKind.TRUNCATION: (1265, 1406, 3751),
    ErrorKind.DIVISION_BY_ZERO: (1365,),
    ErrorKind.BAD_VALUE: (
        1139, 1172, 1210, 1231, 1232, 1253, 1267, 1270, 1271, 1292, 1300, 1321, 1329, 1339, 1366,
        1367, 1411, 1416, 1525, 1578, 3020, 3057, 3064, 3069, 3140, 3141, 3142, 3143, 3144, 3145,
        3146, 3147, 3148, 3149, 3150, 3151, 3153, 3154, 3156, 3157, 3158, 3165, 3513, 3514, 3665,
        3666, 3685, 3686, 3688, 3689, 3690, 3691, 3692, 3693, 3694, 3695, 3696, 3697, 3700, 3854,
        3903, 3934, 3966, 3967, 3988, 3995, 3997, 3998, 4032, 4163, 6134, 6136, 6137, 6138,
    ),
    ErrorKind.SYNTAX: (
        1052, 1055, 1056, 1057, 1058, 1059, 1063, 1064, 1065, 1066, 1067, 1074, 1075, 1089, 1096,
        1102, 1103, 1107, 1108, 1110, 1111, 1113, 1120, 1121, 1136, 1140, 1149, 1166, 1170, 1221,
        1222, 1225, 1234, 1239, 1240, 1241, 1242, 1247, 1248, 1250, 1280, 1294, 1308, 1309, 1310,
        1313, 1318, 1320, 1322, 1323, 1328, 1337, 1338, 1353, 1407, 1414, 1425, 1426, 1427, 1458,
        1463, 1479, 1480, 1481, 1484, 1485, 1488, 1490, 1492, 1493, 1494, 1495, 1496, 1498, 1504,
        1566, 1567, 1582, 1583, 1584, 1641, 1646, 1652, 1653, 1654, 1656, 1657, 1658, 1697, 3028,
        3029, 3065, 3066, 3087, 3088, 3573, 3574, 3575, 3576, 3577, 3579, 3580, 3581, 3582, 3583,
        3584, 3585, 3586, 3587, 3588, 3589, 3590, 3591, 3592, 3593, 3594, 3595, 3601, 3602, 3667,
        3668, 3942, 3943, 3953, 3954, 4114, 6036,
    ),
    ErrorKind.NO_SUCH_OBJECT: (
        1008, 1046, 1049, 1051, 1054, 1072, 1082, 1091, 1106, 1109, 1115, 1122, 1128, 1146, 1176,
        1177, 1191, 1193, 1243, 1273, 1286, 1298, 1305, 1319, 1324, 1327, 1356, 1360, 1363, 1431,
        1449, 1477, 1507, 1516, 1539, 1649, 1735, 1749, 3011, 3162, 3503, 3523, 3548, 3568, 3609,
        3615, 3651, 3719, 3821, 3940,
    ),
    ErrorKind.OBJECT_EXISTS: (
        1007, 1050, 1060, 1061, 1068, 1086, 1125, 1291, 1304, 1330, 1331, 1332, 1333, 1359, 1413,
        1476, 1517, 1537, 1551, 1813, 1826, 3163, 3610, 3650, 3712, 3822, 3939, 4108,
    ),
    ErrorKind.SCHEMA_CHANGED: (1412, 1615, 1684, 3749),
    ErrorKind.UNSUPPORTED: (
        1031, 1047, 1069, 1070, 1071, 1073, 1093, 1101, 1112, 1117, 1118, 1137, 1148, 1163, 1164,
        1167, 1175, 1178, 1204, 1207, 1214, 1228, 1229, 1230, 1233, 1235, 1238, 1288, 1289, 1295,
        1302, 1303, 1312, 1314, 1334, 1335, 1336, 1347, 1348, 1350, 1351, 1352, 1357, 1361, 1362,
        1368, 1393, 1394, 1395, 1415, 1424, 1442, 1443, 1444, 1445, 1446, 1460, 1462, 1464, 1471,
        1473, 1478, 1486, 1491, 1497, 1502, 1503, 1505, 1506, 1508, 1509, 1510, 1511, 1512, 1513,
        1514, 1515, 1519, 1520, 1523, 1524, 1562, 1563, 1564, 1598, 1621, 1655, 1659, 1661, 1662,
        1663, 1664, 1665, 1666, 1667, 1668, 1706, 1709, 1726, 1731, 1732, 1733, 1734, 1736, 1740,
        1746, 1747, 1757, 1764, 1765, 1769, 1785, 1786, 1795, 1796, 1800, 1801, 1831, 1845, 1846,
        1847, 1848, 1849, 1850, 1851, 1853, 1854, 1855, 1856, 1857, 1861, 3012, 3025, 3059, 3098,
        3099, 3102, 3103, 3104, 3106, 3107, 3109, 3110, 3152, 3161, 3167, 3174, 3175, 3178, 3192,
        3500, 3502, 3522, 3658, 3728, 3729, 3733, 3753, 3754, 3755, 3756, 3757, 3758, 3759, 3760,
        3761, 3762, 3763, 3764, 3765, 3766, 3767, 3768, 3769, 3770, 3771, 3772, 3774, 3813, 3814,
        3815, 3816, 3817, 3818, 3905, 3906, 3941, 3978, 3979, 4091, 6120,
    ),
    ErrorKind.READ_ONLY: (1036, 1290, 1792, 1836, 1874, 3989, 4156),
    ErrorKind.TRANSACTION_STATE: (
        1099, 1100, 1179, 1192, 1223, 1325, 1326, 1397, 1398, 1399, 1400, 1401, 1402, 1421, 1422,
        1440, 1560, 1568, 1613, 1679, 1685, 1694, 1695, 1766, 1778, 1787, 1790, 3091, 3138, 3197,
        3977,
    ),
    ErrorKind.CANCELLED: (1028, 1317, 1969, 3024, 3699),
    ErrorKind.RESOURCES: (
        1004, 1006, 1010, 1021, 1037, 1038, 1040, 1041, 1104, 1114, 1116, 1119, 1135, 1153, 1162,
        1197, 1203, 1206, 1226, 1301, 1390, 1436, 1456, 1461, 1499, 1528, 1637, 1705, 1713, 1799,
        1878, 3015, 3019, 3044, 3170, 3171, 3186, 3231, 3636, 3675, 3684, 3698, 3950, 3985, 4081,
        4082, 4086, 4092, 4169,
    ),
    ErrorKind.ACCESS: (
        1044, 1045, 1095, 1130, 1131, 1132, 1133, 1141, 1142, 1143, 1144, 1145, 1147, 1211, 1227,
        1269, 1370, 1396, 1403, 1410, 1419, 1698, 1819, 1820, 1862, 1873, 3118, 3159, 3530, 3552,
        3553, 3554, 3555, 3556, 3557, 3566, 3630, 3955,
    ),
    ErrorKind.CONNECTION_LOST: (
        1042, 1043, 1053, 1152, 1156, 1158, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 2055, 3032,
        3168, 3169, 4031,
    ),
    ErrorKind.INTERNAL: (
        1012, 1013, 1015, 1016, 1017, 1018, 1023, 1024, 1026, 1030, 1032, 1033, 1034, 1035, 1039,
        1105, 1180, 1181, 1182, 1194, 1195, 1201, 1296, 1297, 1457, 1602, 1682, 1696, 1712, 1728,
        1805, 1808, 1810, 1811, 1812, 1814, 1815, 1817, 1835, 1877, 1886, 3000, 3035, 3036, 3043,
        3052, 3053, 3054, 3100, 3506, 3508, 3509, 3512, 3604, 3605, 3687,
    ),
}  # fmt: skip


def by_number(by_kind: Mapping[ErrorKind, tuple[int, ...]]) -> dict[int, ErrorKind]:
    """The table turned round."""
    return {errno: kind for kind, numbers in by_kind.items() for errno in numbers}


FAMILY: Mapping[int, ErrorKind] = by_number(BY_KIND)
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
