"""What solves single statements for the walk: our own evaluator, or the DBMS itself on scratch tables."""
