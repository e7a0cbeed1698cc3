-- id: PG-MERGE-CTE
-- title: MERGE inside a CTE on a table with a trigger ends the session after a concurrent update
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=27c7c11366f
-- target: postgres >=17
-- level: READ COMMITTED
-- status: confirmed
-- kind: crash
-- reported: 17.0 to 17.5
-- fixed: 17.6
-- levels: RC
-- seen: postgres@17.5 RU, RC
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- As PG-17809, but MERGE stands in a WITH clause. The server process dies on a state that only the outer statement has.
-- setup
CREATE TABLE t (k INT PRIMARY KEY, b INT, s TEXT);
INSERT INTO t VALUES (1, 160, 'x');
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN RETURN OLD; ELSE RETURN NEW; END IF;
END $$;
CREATE TRIGGER g BEFORE INSERT OR UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION f();
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 50 WHERE k = 1;   -- expect: affected 1
/* tx1 */ WITH m AS (MERGE INTO t USING (SELECT 1 AS k) s ON s.k = t.k
            WHEN MATCHED AND b < 100 THEN UPDATE SET b = b * 2
            WHEN MATCHED AND b < 200 THEN UPDATE SET b = b * 4 RETURNING t.b)
          SELECT * FROM m;
-- expect RU, RC: (100)
-- expect RR, SER: error serialization-failure
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
