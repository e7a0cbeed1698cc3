"""Claims: what each DBMS promises at each level, as data with links to its documentation."""

from acidtest.claims.base import Claim, OnConflict, Sees, SnapshotAt
from acidtest.claims.locks import Lock, TableLock
from acidtest.claims.registry import Claims, claim_for, claims_of

__all__ = [
    "Claim",
    "Claims",
    "Lock",
    "OnConflict",
    "Sees",
    "SnapshotAt",
    "TableLock",
    "claim_for",
    "claims_of",
]
