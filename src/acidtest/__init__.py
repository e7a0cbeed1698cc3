"""acidtest puts database transactions to the acid test."""
