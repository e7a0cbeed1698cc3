"""Faults of released libraries that a forced interleaving shows, and one that holds."""

import pytest
from django.core.cache import cache
from django.core.management import call_command
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory
from rest_framework.throttling import AnonRateThrottle
from trees.models import Genre, Nested, Path

from acidtest.app import explore
from acidtest.model import Level
from acidtest.model.application import Judgement, Nature
from acidtest.report.application import exploration_text

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cache_table(transactional_db):
    call_command("createcachetable")
    cache.clear()


def violated(*calls, **options):
    found = explore(*calls, level="RC", **options)
    print(exploration_text(found))
    assert found.judgement is Judgement.VIOLATED
    assert found.coverage.runs <= 3
    return found.race


def add(model, name):
    return lambda: model.objects.add_root({"name": name}).name


def test_mptt_roots_share_a_tree():
    def create(name):
        return lambda: Genre.objects.create(name=name).name

    violated(create("jazz"), create("rock"))


def test_treebeard_nested_set_roots_and_serializable_prevents_it():
    race = violated(add(Nested, "a"), add(Nested, "b"))
    assert race.nature is Nature.LEVEL
    assert not next(one for one in race.levels if one.level is Level.SERIALIZABLE).violated


def test_treebeard_materialized_path_children_hold():
    Path.objects.add_root({"name": "root"})

    def child(name):
        def call():
            return Path.objects.add_child(Path.objects.get(name="root"), {"name": name}).name

        return call

    found = explore(child("a"), child("b"), level="RC")
    print(exploration_text(found))
    assert found.judgement is Judgement.HOLDS
    assert found.coverage.runs > 0


def test_the_throttle_lets_two_through(cache_table):
    class Once(AnonRateThrottle):
        rate = "1/hour"

    def request():
        return Once().allow_request(Request(APIRequestFactory().get("/")), None)

    race = violated(request)
    assert race.nature is Nature.SCOPE


def test_the_cache_loses_an_increment(cache_table):
    cache.set("n", 0)
    race = violated(lambda: cache.incr("n"))
    assert race.nature is Nature.SCOPE
