"""One suite that every target passes: it says when a new DBMS is right."""
