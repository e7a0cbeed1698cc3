-- id: g0-dirty-write
-- title: dirty write (G0, P0)
-- link: https://pmg.csail.mit.edu/papers/adya-phd.pdf
-- tx1 and tx2 write both rows in opposite turns. If neither waits for the other, each row keeps the value
-- of a different transaction, and no order of the two gives that state.
-- setup
CREATE TABLE t (id INT PRIMARY KEY, value INT);
INSERT INTO t VALUES (1, 10), (2, 20);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET value = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 12 WHERE id = 1;
/* tx2 */ UPDATE t SET value = 22 WHERE id = 2;
/* tx2 */ COMMIT;
/* tx1 */ UPDATE t SET value = 21 WHERE id = 2;
/* tx1 */ COMMIT;
-- final
-- expect t: (1,11) (2,21) or (1,12) (2,22)
