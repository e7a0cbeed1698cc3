-- id: ACIDTEST-3
-- title: committed transactions fit no serial order when INSERT .. ON CONFLICT passes by an existing row
-- link: https://hackorum.dev/topics/139733
-- target: postgres
-- level: SERIALIZABLE
-- seen: postgres@9.6.24 SER
-- seen: postgres@10.5 SER
-- seen: postgres@10.6 SER
-- seen: postgres@11.1 SER
-- seen: postgres@11.5 SER
-- seen: postgres@12.3 SER
-- seen: postgres@12.22 SER
-- seen: postgres@13.22 SER
-- seen: postgres@14.2 SER
-- seen: postgres@15.2 SER
-- seen: postgres@15.18 SER
-- seen: postgres@17.5 SER
-- seen: postgres@18.3 SER
-- seen: postgres@18.4 SER
-- tx1's INSERT finds the row 0 and leaves it alone, which is a read of it; tx2 does not see tx1's row 1 and deletes
-- the row 0. If tx1 came first, tx2 would have read two rows; if tx2 came first, tx1 would have inserted two.
-- PostgreSQL documents that SERIALIZABLE emulates a serial order of the committed transactions (13.2.3), and
-- lists no exception for ON CONFLICT. Its predicate locks do not cover the conflicting row that ON CONFLICT found.
-- Related: Jepsen's report of G2-item with ON CONFLICT DO UPDATE on 18.4 (record PG-JEPSEN-18.4 of the catalogue), which was
-- only seen under load; this case needs none, and shows on 12 to 18. Found by acidtest fuzz.
-- setup
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (0);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1), (0) ON CONFLICT DO NOTHING;    -- expect: affected 1
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;                                         -- expect: (0)
/* tx2 */ DELETE FROM t;                                           -- expect: affected 1
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;                                                  -- expect: ok
-- expect SER: error serialization-failure
-- final
-- expect t: (1)
-- expect t at SER: no rows
