"""Models of tree libraries."""
