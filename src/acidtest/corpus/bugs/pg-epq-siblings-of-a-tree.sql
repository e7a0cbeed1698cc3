-- id: PG-EPQ-SIBLINGS
-- title: an UPDATE of an inheritance tree changes a row that matches no more because a sibling table has a match
-- link: https://git.postgresql.org/gitweb/?p=postgresql.git;a=commit;h=70b42f27902
-- target: postgres
-- level: READ COMMITTED
-- status: confirmed
-- kind: wrong final state
-- reported: 14.0 to 14.8, 15.0 to 15.3
-- fixed: 14.9, 15.4
-- levels: RC
-- seen: postgres@9.6.24 no level
-- seen: postgres@10.5 no level
-- seen: postgres@10.6 no level
-- seen: postgres@11.1 no level
-- seen: postgres@11.5 no level
-- seen: postgres@12.3 no level
-- seen: postgres@12.22 no level
-- seen: postgres@13.1 no level
-- seen: postgres@13.22 no level
-- seen: postgres@14.2 RU, RC
-- seen: postgres@15.2 RU, RC
-- seen: postgres@15.18 no level
-- seen: postgres@17.5 no level
-- seen: postgres@18.3 no level
-- seen: postgres@18.4 no level
-- tx1 has changed every row so that tx2's condition holds for none. When tx2 tests a row again after its wait, it also looks into the other
-- tables of the tree, and a row there that it has not tested yet counts.
-- setup
CREATE TABLE p (a INT, b INT, c INT);
CREATE TABLE c1 () INHERITS (p);
CREATE TABLE c2 () INHERITS (p);
INSERT INTO c1 SELECT 0, i / 3, i % 3 FROM generate_series(0, 9) g (i);
INSERT INTO c2 SELECT 1, i / 3, i % 3 FROM generate_series(0, 9) g (i);
-- schedule
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE p SET c = 4 WHERE c = 0;    -- expect: affected 8
/* tx2 */ UPDATE p SET b = -4 WHERE c = 0;
-- expect RU, RC: affected 0; blocked by tx1
-- expect RR, SER: error serialization-failure; blocked by tx1
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx1 */ SELECT COUNT(*) FROM p WHERE b = -4;  -- expect: (0)
