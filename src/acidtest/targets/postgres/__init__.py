"""PostgreSQL 9.6 and later, through libpq.

- `session`: one connection, driven without waiting; `values` reads what the server sends
- `errors`: SQLSTATEs by meaning, as data
- `target`: the interface of the executor on top of these; `watch`: who waits for whom
- `catalog`: the schema from the system catalogue
"""
