-- id: PG-19536
-- title: RETURNING OLD gives outdated values with a trigger and a concurrent update
-- link: https://postgr.es/m/19536-73ce5847e6c0e7b1@postgresql.org
-- target: postgres >=18
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong rows
-- reported: 18.0 to 18.4
-- fixed: 18.6
-- levels: RC
-- seen: postgres@18.3 RU, RC
-- seen: postgres@18.4 RU, RC
-- tx2 waits for tx1 when the trigger locks the row, and updates what tx1 left. OLD still is what tx2 saw before the wait.
-- setup
CREATE TABLE t (k INT PRIMARY KEY, s TEXT);
INSERT INTO t VALUES (1, 'a');
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RETURN NEW;
END $$;
CREATE TRIGGER g BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f();
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET s = s || '1' WHERE k = 1;   -- expect: affected 1
/* tx2 */ UPDATE t SET s = s || '2' WHERE k = 1 RETURNING OLD.s, NEW.s;
-- expect RU, RC: ('a1','a12'); blocked by tx1
-- expect RR, SER: error serialization-failure; blocked by tx1
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
