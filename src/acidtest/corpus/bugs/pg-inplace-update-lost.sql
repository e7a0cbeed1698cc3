-- id: PG-INPLACE
-- title: GRANT beside ALTER TABLE loses a change of the catalogue
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=a07e03fd8fa
-- target: postgres
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong final state
-- reported: up to 12.20, 16.4, 17.0
-- fixed: 12.21, 13.17, 14.14, 15.9, 16.5, 17.1
-- levels: RC
-- seen: postgres@9.6.24 RU, RC, RR, SER
-- seen: postgres@10.5 RU, RC, RR, SER
-- seen: postgres@10.6 RU, RC, RR, SER
-- seen: postgres@11.1 RU, RC, RR, SER
-- seen: postgres@11.5 RU, RC, RR, SER
-- seen: postgres@12.3 RU, RC, RR, SER
-- seen: postgres@12.22 no level
-- seen: postgres@13.1 RU, RC, RR, SER
-- seen: postgres@13.22 no level
-- seen: postgres@14.2 RU, RC, RR, SER
-- seen: postgres@15.2 RU, RC, RR, SER
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- ADD PRIMARY KEY notes in the table's catalogue row that it has an index, in place and without a new version. GRANT has already copied the
-- row and puts its copy over it at COMMIT: the note is lost.
-- setup
CREATE TABLE t (a INT NOT NULL);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ GRANT SELECT ON t TO PUBLIC;
/* tx2 */ ALTER TABLE t ADD PRIMARY KEY (a);   -- expect: ok
/* tx1 */ COMMIT;
/* tx3 */ SELECT relhasindex FROM pg_class WHERE oid = 't'::regclass;   -- expect: (TRUE)
