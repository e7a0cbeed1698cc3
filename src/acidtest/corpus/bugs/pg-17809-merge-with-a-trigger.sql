-- id: PG-17809
-- title: MERGE with a BEFORE ROW trigger takes the wrong branch after a concurrent update
-- link: https://postgr.es/m/17809-9e6650bef133f0fe@postgresql.org
-- target: postgres >=15
-- level: READ COMMITTED
-- status: confirmed
-- kind: crash
-- reported: 15.0 to 15.2
-- fixed: 15.3
-- levels: RC
-- seen: postgres@15.2 RU, RC
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- tx1's MERGE waits inside the trigger's lock of the row. When tx2 has committed, the balance is 50 and the first branch holds, but
-- MERGE goes on with the branch that it chose for the old balance.
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
/* tx1 */ MERGE INTO t USING (SELECT 1 AS k) s ON s.k = t.k
          WHEN MATCHED AND b < 100 THEN UPDATE SET b = b * 2
          WHEN MATCHED AND b < 200 THEN UPDATE SET b = b * 4;
-- expect RU, RC: affected 1; blocked by tx2
-- expect RR, SER: error serialization-failure; blocked by tx2
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
-- final
-- expect t: (1,100,'x')
-- expect t at RR, SER: (1,50,'x')
