"""From a violation to a finding: re-run, reduce, sign, compare, try elsewhere."""
