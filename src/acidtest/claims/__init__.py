"""Claims: what each DBMS promises at each level, as data with links to its documentation."""

from acidtest.claims.base import Claim, Lock, OnConflict, Sees, SnapshotAt
from acidtest.claims.registry import claim_for, claims_of

__all__ = ["Claim", "Lock", "OnConflict", "Sees", "SnapshotAt", "claim_for", "claims_of"]
