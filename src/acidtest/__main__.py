"""`python -m acidtest` is the same as `acidtest`."""

from acidtest.cli import main

main()
