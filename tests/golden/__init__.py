"""Histories of real servers, kept as data, and what is to be said of each."""
