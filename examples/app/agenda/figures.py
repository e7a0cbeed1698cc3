"""Figures 2, 3 and 6 of the AGENDA paper, each with a fault of transaction boundaries and with its repair.

Figure 3 is partial in the paper: there a delivery only adds to the customer's balance, so that nothing contradicts
the order in which it comes first. Here it also marks the lines that it has delivered, as TPC-C's Delivery does.
"""

from typing import Any

import psycopg

Connection = psycopg.Connection[Any]

SCHEMA = """
CREATE TABLE flights (flt_num int PRIMARY KEY, avail int NOT NULL);
CREATE TABLE order_line (id serial PRIMARY KEY, c_id int NOT NULL, amount int NOT NULL, delivered boolean NOT NULL);
CREATE TABLE customer (c_id int PRIMARY KEY, balance int NOT NULL);
CREATE TABLE checking (acct_num int PRIMARY KEY, balance int NOT NULL);
CREATE TABLE saving (acct_num int PRIMARY KEY, balance int NOT NULL);
INSERT INTO flights VALUES (7, 5);
INSERT INTO customer VALUES (1, 0);
INSERT INTO order_line (c_id, amount, delivered) VALUES (1, 10, false), (1, 20, false);
INSERT INTO checking VALUES (1, 0);
INSERT INTO saving VALUES (1, 100);
"""

# Figure 2: booking a seat


def choose_seat(connection: Connection, flight: int) -> bool:
    """Ends its transaction between the read and the write that depends on it."""
    with connection.transaction():
        (avail,) = connection.execute(
            "SELECT avail FROM flights WHERE flt_num = %s", [flight]
        ).fetchone() or (0,)
    if avail <= 0:
        return False
    with connection.transaction():
        connection.execute("UPDATE flights SET avail = %s WHERE flt_num = %s", [avail - 1, flight])
    return True


def choose_seat_repaired(connection: Connection, flight: int) -> bool:
    """One transaction, and the row is locked from the read on."""
    with connection.transaction():
        query = "SELECT avail FROM flights WHERE flt_num = %s FOR UPDATE"
        (avail,) = connection.execute(query, [flight]).fetchone() or (0,)
        if avail <= 0:
            return False
        connection.execute("UPDATE flights SET avail = %s WHERE flt_num = %s", [avail - 1, flight])
    return True


# Figure 3: delivery and new orders of a warehouse


def delivery(connection: Connection, customer: int) -> None:
    """Adds what it saw to the balance, and delivers what is there by then."""
    with connection.transaction():
        query = "SELECT COALESCE(SUM(amount), 0) FROM order_line WHERE c_id = %s AND NOT delivered"
        (total,) = connection.execute(query, [customer]).fetchone() or (0,)
    with connection.transaction():
        connection.execute("UPDATE customer SET balance = balance + %s WHERE c_id = %s", [total, customer])
        connection.execute(
            "UPDATE order_line SET delivered = true WHERE c_id = %s AND NOT delivered", [customer]
        )


def delivery_repaired(connection: Connection, customer: int) -> None:
    """Adds just what it delivers: the statement that marks the lines tells their amounts."""
    with connection.transaction():
        mark = "UPDATE order_line SET delivered = true WHERE c_id = %s AND NOT delivered RETURNING amount"
        total = sum(amount for (amount,) in connection.execute(mark, [customer]))
        connection.execute("UPDATE customer SET balance = balance + %s WHERE c_id = %s", [total, customer])


def new_order(connection: Connection, customer: int, amount: int) -> None:
    with connection.transaction():
        insert = "INSERT INTO order_line (c_id, amount, delivered) VALUES (%s, %s, false)"
        connection.execute(insert, [customer, amount])


# Figure 6: a transfer


def transfer(connection: Connection, account: int, amount: int) -> None:
    """Commits between the two halves of a transfer: whoever stops there loses money."""
    with connection.transaction():
        query = "SELECT balance FROM saving WHERE acct_num = %s FOR UPDATE"
        (balance,) = connection.execute(query, [account]).fetchone() or (0,)
        if balance < amount:
            return
        connection.execute("UPDATE saving SET balance = balance - %s WHERE acct_num = %s", [amount, account])
    with connection.transaction():
        connection.execute(
            "UPDATE checking SET balance = balance + %s WHERE acct_num = %s", [amount, account]
        )


def transfer_repaired(connection: Connection, account: int, amount: int) -> None:
    with connection.transaction():
        query = "SELECT balance FROM saving WHERE acct_num = %s FOR UPDATE"
        (balance,) = connection.execute(query, [account]).fetchone() or (0,)
        if balance < amount:
            return
        connection.execute("UPDATE saving SET balance = balance - %s WHERE acct_num = %s", [amount, account])
        connection.execute(
            "UPDATE checking SET balance = balance + %s WHERE acct_num = %s", [amount, account]
        )


TOTAL = "SELECT (SELECT sum(balance) FROM saving) + (SELECT sum(balance) FROM checking) = 100"
"""The invariant of Figure 6: a transfer makes no money, and loses none."""
