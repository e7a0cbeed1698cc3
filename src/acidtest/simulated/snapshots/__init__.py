"""Engines whose reads and writes both work on a snapshot; they differ in what they do about conflicts."""
