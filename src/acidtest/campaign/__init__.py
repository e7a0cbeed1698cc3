"""Campaigns: worker processes that fuzz, a store that survives them, and the status they show."""
