-- id: PG-SSI-HOT
-- title: SERIALIZABLE misses a conflict on a row that was updated in place before
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=1169fcf129f
-- target: postgres
-- level: SERIALIZABLE
-- status: confirmed
-- kind: wrong final state
-- reported: 9.4 to 11.5
-- fixed: 9.6.16, 10.11, 11.6, 12.0
-- levels: SER
-- seen: postgres@9.6.24 no level
-- seen: postgres@10.5 SER
-- seen: postgres@10.6 SER
-- seen: postgres@11.1 SER
-- seen: postgres@11.5 SER
-- seen: postgres@12.3 no level
-- seen: postgres@12.22 no level
-- seen: postgres@13.1 no level
-- seen: postgres@13.22 no level
-- seen: postgres@14.2 no level
-- seen: postgres@15.2 no level
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- Both transactions read rows 5 and 7 through the index, and each changes the one that the other does not: write skew. Row 7 had
-- been updated in its page before (a HOT chain), and the lock that a reader leaves on such a row was put on the wrong version.
-- setup
CREATE TABLE t (a INT PRIMARY KEY, b TEXT);
INSERT INTO t VALUES (5, 'x'), (7, 'y'), (11, 'z');
UPDATE t SET b = 'h' WHERE a = 7;
-- schedule
/* tx1 */ SET enable_seqscan = off;
/* tx2 */ SET enable_seqscan = off;
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE a IN (5, 7);
/* tx2 */ SELECT * FROM t WHERE a IN (5, 7);
/* tx1 */ UPDATE t SET b = 'p' WHERE a = 7;
/* tx2 */ UPDATE t SET b = 'q' WHERE a = 5;
/* tx1 */ COMMIT;                             -- expect: ok
/* tx2 */ COMMIT;
-- expect: ok
-- expect SER: error serialization-failure
