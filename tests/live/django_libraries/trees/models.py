"""One model for each library."""

from django.db import models
from mptt.models import MPTTModel, TreeForeignKey
from treebeard.mp_tree import MP_Node
from treebeard.ns_tree import NS_Node


class Genre(MPTTModel):
    name = models.CharField(max_length=50)
    parent = TreeForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="children")


class Nested(NS_Node):
    name = models.CharField(max_length=50)


class Path(MP_Node):
    name = models.CharField(max_length=50)
