"""Oracles: each judges a history against the claims of its DBMS, in a way of its own."""
