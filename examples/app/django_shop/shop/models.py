"""What the shop keeps."""

from django.db import models


class Product(models.Model):
    """Something to buy."""

    name = models.CharField(max_length=50)


class Stock(models.Model):
    """How much is left of a product."""

    product = models.OneToOneField(Product, on_delete=models.CASCADE)
    left = models.IntegerField()


class Order(models.Model):
    """Somebody bought a product."""

    product = models.ForeignKey(Product, on_delete=models.CASCADE)
    customer = models.CharField(max_length=50)
    placed_at = models.DateTimeField(auto_now_add=True)
