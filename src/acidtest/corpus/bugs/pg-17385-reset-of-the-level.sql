-- id: PG-17385
-- title: RESET transaction_isolation works inside of a SERIALIZABLE transaction
-- link: https://postgr.es/m/17385-9ee529fb091f0ce5@postgresql.org
-- target: postgres
-- level: SERIALIZABLE
-- status: confirmed
-- kind: wrong error
-- reported: 10 to 14.1
-- fixed: 16 (the report says 15.0, but 15.18 still accepts it)
-- levels: SER
-- seen: postgres@9.6.24 RU, RC, RR, SER
-- seen: postgres@10.5 RU, RC, RR, SER
-- seen: postgres@10.6 RU, RC, RR, SER
-- seen: postgres@11.1 RU, RC, RR, SER
-- seen: postgres@11.5 RU, RC, RR, SER
-- seen: postgres@12.3 RU, RC, RR, SER
-- seen: postgres@12.22 RU, RC, RR, SER
-- seen: postgres@13.1 RU, RC, RR, SER
-- seen: postgres@13.22 RU, RC, RR, SER
-- seen: postgres@14.2 RU, RC, RR, SER
-- seen: postgres@15.2 RU, RC, RR, SER
-- seen: postgres@15.18 RU, RC, RR, SER
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- SET TRANSACTION ISOLATION LEVEL is refused after the first query, but RESET of the variable behind it was not checked: the
-- transaction changed its level in the middle. In a build with assertions COMMIT then ends the server.
-- setup
CREATE TABLE t (a INT);
-- schedule
/* tx1 */ SET default_transaction_isolation = 'read committed';
/* tx1 */ BEGIN ISOLATION LEVEL SERIALIZABLE;
/* tx1 */ SELECT * FROM t;                      -- expect: no rows
/* tx1 */ RESET transaction_isolation;          -- expect: error
/* tx1 */ ROLLBACK;
