-- id: semi-consistent-3
-- level: READ UNCOMMITTED
-- setup
CREATE TABLE t (c1 DECIMAL(10,2) NOT NULL, c2 DATE NOT NULL, PRIMARY KEY (c1));
CREATE UNIQUE INDEX i2_t ON t (c1, c2);
INSERT INTO t (c1, c2) VALUES (54.29, '2024-09-29'), (-2.50, '2024-08-07'), (1.50, '2024-06-19'), (47.88, '2025-01-20'), (47.63, '2024-09-29'), (1.00, '2024-06-19');
-- schedule
/* tx2 */ BEGIN;
/* tx2 */ SELECT c2 FROM t WHERE c1 < 47.88;
/* tx1 */ BEGIN;
/* tx2 */ INSERT INTO t (c1, c2) VALUES (54.29, '2024-06-05'), (1.00, '2024-06-19');
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET c1 = c1 - 10 WHERE (NOT c1 IN (47.63)) OR (c2 IS NULL);
/* tx1 */ INSERT INTO t (c1, c2) VALUES (47.63, '2025-01-20');
/* tx1 */ SELECT * FROM t WHERE NOT c1 IN (47.63);
/* tx1 */ UPDATE t SET c2 = '2024-09-29';
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
