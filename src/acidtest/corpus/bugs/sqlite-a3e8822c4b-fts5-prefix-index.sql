-- id: SQLITE-a3e8822c4b
-- title: FTS5: delete, prefix query and insert of a row in one transaction corrupt the index
-- link: https://github.com/sqlite/sqlite/commit/a3e8822c4b
-- target: sqlite
-- status: confirmed
-- kind: wrong error
-- reported: up to 3.43.2
-- fixed: 3.44.2, 3.45.0
-- levels: SER
-- seen: sqlite@3.40.1 SER
-- seen: sqlite@3.43.2 SER
-- seen: sqlite@3.45.3 no level
-- The prefix query between DELETE and INSERT makes FTS5 write out its pending changes in the wrong order. The next query
-- says that the database is malformed, although the table's rows are all right.
-- setup
CREATE VIRTUAL TABLE f USING fts5 (x);
INSERT INTO f (rowid, x) VALUES (123, 'w');
-- schedule
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM f WHERE rowid = 123;                  -- expect: ok
/* tx1 */ SELECT * FROM f('w*');                            -- expect: no rows
/* tx1 */ INSERT INTO f (rowid, x) VALUES (123, 'w');       -- expect: affected 1
/* tx1 */ SELECT rowid FROM f('w*');                        -- expect: (123)
/* tx1 */ COMMIT;
/* tx1 */ INSERT INTO f (f) VALUES ('integrity-check');     -- expect: ok
