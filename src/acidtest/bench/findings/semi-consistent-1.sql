-- id: semi-consistent-1
-- level: READ COMMITTED
-- setup
CREATE TABLE t (c1 INT NOT NULL, PRIMARY KEY (c1));
INSERT INTO t (c1) VALUES (100);
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET c1 = 2 WHERE c1 >= 0;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET c1 = 0;
/* tx2 */ UPDATE t SET c1 = c1 + 10 WHERE c1 <> 3;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ REPLACE INTO t (c1) VALUES (1);
/* tx2 */ COMMIT;
