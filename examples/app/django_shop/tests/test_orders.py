"""Two customers want the last item."""

import pytest
from shop.models import Product, Stock
from shop.orders import place_order, place_order_atomic, place_order_locked


@pytest.fixture
def product():
    product = Product.objects.create(name="teapot")
    Stock.objects.create(product=product, left=1)
    return product


@pytest.mark.django_db(transaction=True)
def test_last_item_is_sold_once(interleave, product):
    interleave(lambda: place_order("alice", product), lambda: place_order("bob", product))


@pytest.mark.django_db(transaction=True)
def test_last_item_is_sold_once_with_a_lock(interleave, product):
    interleave(lambda: place_order_locked("alice", product), lambda: place_order_locked("bob", product))


@pytest.mark.django_db(transaction=True)
def test_last_item_is_sold_once_by_one_statement(interleave, product):
    interleave(lambda: place_order_atomic("alice", product), lambda: place_order_atomic("bob", product))
