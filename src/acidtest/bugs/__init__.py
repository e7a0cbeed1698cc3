"""The replication testbed: known bugs over versions and levels, and what follows from that."""
