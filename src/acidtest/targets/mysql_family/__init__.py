"""What the servers that speak the MySQL protocol have in common; one DBMS is one small file in `targets`.

- `wire`: one connection without waiting; `replies` and `values` read what the server sends
- `errors`: error numbers by meaning, as data
- `session`, `target`, `private`: the interface of the executor on top of these
- `catalog`: the schema from information_schema
- `locks`, `innodb`, `waits`: who waits for whom; `innodb_target`: what MySQL and MariaDB share
"""
