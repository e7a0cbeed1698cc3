"""Placing an order: as it is often written, and two ways to write it right."""

from django.db import transaction
from django.db.models import F

from shop.models import Order, Product, Stock


class SoldOutError(Exception):
    """Nothing is left."""


def place_order(customer: str, product: Product) -> Order | None:
    """Sells the last item twice: what was read may be old when it is written back."""
    stock = Stock.objects.get(product=product)
    if stock.left < 1:
        return None
    with transaction.atomic():
        stock.left -= 1
        stock.save()
        return Order.objects.create(product=product, customer=customer)


def place_order_locked(customer: str, product: Product) -> Order | None:
    """Right: the row is locked from the check to the end."""
    with transaction.atomic():
        stock = Stock.objects.select_for_update().get(product=product)
        if stock.left < 1:
            return None
        stock.left -= 1
        stock.save()
        return Order.objects.create(product=product, customer=customer)


def place_order_atomic(customer: str, product: Product) -> Order | None:
    """Right: check and write are one statement."""
    with transaction.atomic():
        if not Stock.objects.filter(product=product, left__gte=1).update(left=F("left") - 1):
            return None
        return Order.objects.create(product=product, customer=customer)
