"""Version chains, and the views of them that claims define."""

from acidtest.mvcc.chains import INITIAL, Chains, Seen, Version, Visible

__all__ = ["INITIAL", "Chains", "Seen", "Version", "Visible"]
