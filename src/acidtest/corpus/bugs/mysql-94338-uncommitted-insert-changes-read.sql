-- id: MYSQL-94338
-- title: another transaction's uncommitted insert changes a read's result
-- link: https://bugs.mysql.com/bug.php?id=94338
-- target: mysql
-- target: mariadb
-- level: READ COMMITTED
-- seen: mariadb@10.5.23 no level
-- seen: mariadb@10.11.19 no level
-- seen: mariadb@11.8.6 no level
-- seen: mysql@5.6.24 no level
-- seen: mysql@9.7.4 no level
-- tx1 asks the same question before and while tx2 inserts rows that have nothing to do with it; every
-- answer must be empty, because the rows of both ids have state 0. With the insert uncommitted, the forced index
-- is read past its range. Reported at READ COMMITTED and REPEATABLE READ (thesis, figure 4.10, for MySQL
-- 5.7.25; gone in 8.0). The figure leaves out condition and rows: the condition is the report's, the rows
-- are made by a rule of ours in the same shape.
-- setup
CREATE TABLE pairs (a_id BIGINT NOT NULL, b_id BIGINT NOT NULL);
CREATE TABLE states (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, a_id BIGINT NOT NULL,
                     b_id BIGINT NOT NULL, code CHAR(1) NOT NULL, c_id BIGINT NOT NULL, state INT NOT NULL,
                     KEY wide (a_id, b_id, code, c_id, state));
CREATE TABLE numbers (n INT PRIMARY KEY);
INSERT INTO pairs VALUES (1, 18), (1, 19);
INSERT INTO states (a_id, b_id, code, c_id, state) VALUES
  (1,18,'B',10,1), (1,19,'B',10,1), (1,20,'B',10,1), (1,21,'B',10,1),
  (1,18,'B',11,0), (1,19,'B',11,0), (1,20,'B',11,0), (1,21,'B',11,0),
  (1,18,'C',12,1), (1,19,'C',12,1), (1,21,'C',12,1), (1,18,'C',13,1);
INSERT INTO numbers VALUES (22), (23), (24), (25), (26), (27), (28), (29), (30), (31), (32), (33), (34),
  (35), (36), (37), (38), (39), (40), (41), (42), (43), (44), (45), (46);
ANALYZE TABLE pairs, states;
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT b_id FROM pairs p WHERE a_id = 1 AND IFNULL(1 = (
            SELECT state FROM states FORCE INDEX (wide)
            WHERE a_id = 1 AND b_id = p.b_id
              AND ((code = 'A' AND c_id = 11) OR (code = 'B' AND c_id = 11))
            ORDER BY state LIMIT 1), 1) LIMIT 10;                -- expect: no rows
/* tx2 */ INSERT INTO states (a_id, b_id, code, c_id, state)
          SELECT 1, n, 'B', 10, 1 FROM numbers
          UNION ALL SELECT 1, n, 'B', 11, 0 FROM numbers
          UNION ALL SELECT 1, n, 'C', 12, 1 FROM numbers
          UNION ALL SELECT 1, n, 'C', 15, 1 FROM numbers;
/* tx1 */ SELECT b_id FROM pairs p WHERE a_id = 1 AND IFNULL(1 = (
            SELECT state FROM states FORCE INDEX (wide)
            WHERE a_id = 1 AND b_id = p.b_id
              AND ((code = 'A' AND c_id = 11) OR (code = 'B' AND c_id = 11))
            ORDER BY state LIMIT 1), 1) LIMIT 10;                -- expect: no rows
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
