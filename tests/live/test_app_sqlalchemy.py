"""SQLAlchemy, sync and async, and plain asyncio: a fault of scope, a fault of level, and a twin that
holds."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import asyncpg
import pytest
from sqlalchemy import create_engine, func, select, text, update
from sqlalchemy.engine import Engine
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.pool import NullPool

from acidtest import servers
from acidtest.app import explore
from acidtest.app.explore import explore_async
from acidtest.model.application import Exploration, Judgement, Nature, Tried
from acidtest.servers.base import Endpoint

pytestmark = pytest.mark.live("postgres@18")


class Base(DeclarativeBase):
    pass


class Seat(Base):
    __tablename__ = "seat"
    id: Mapped[int] = mapped_column(primary_key=True)
    free: Mapped[int]


class Shift(Base):
    __tablename__ = "shift"
    id: Mapped[int] = mapped_column(primary_key=True)
    on_call: Mapped[bool]


@pytest.fixture(scope="module")
def place() -> Iterator[Endpoint]:
    with servers.start("postgres@18") as server:
        assert server.tcp_endpoint is not None
        engine = create_engine(url(server.tcp_endpoint, "psycopg"))
        Base.metadata.create_all(engine)
        with Session(engine) as session:
            session.add_all([Seat(id=1, free=1), Shift(id=1, on_call=True), Shift(id=2, on_call=True)])
            session.commit()
        engine.dispose()
        yield server.tcp_endpoint


def url(place: Endpoint, driver: str) -> str:
    return f"postgresql+{driver}://{place.user}:{place.password}@{place.host}:{place.port}/postgres"


# -- ORM, sync


def book(engine: Engine) -> bool:
    """Scope: what is read in one session is written back in another."""
    with Session(engine) as session:
        seat = session.get_one(Seat, 1)
        free = seat.free
    if free < 1:
        return False
    with Session(engine) as session:
        session.execute(update(Seat).where(Seat.id == 1).values(free=free - 1))
        session.commit()
    return True


def book_in_one(engine: Engine) -> bool:
    with Session(engine) as session:
        seat = session.get_one(Seat, 1, with_for_update=True)
        if seat.free < 1:
            return False
        seat.free -= 1
        session.commit()
    return True


def leave(engine: Engine, number: int) -> None:
    """Level: each leaves because the other is there."""
    with Session(engine) as session:
        there = session.scalar(select(func.count()).where(Shift.on_call))
        if there and there > 1:
            session.get_one(Shift, number).on_call = False
        session.commit()


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
def test_sqlalchemy_finds_scope_and_level_and_lets_the_twin_hold(place: Endpoint, driver: str) -> None:
    engine = create_engine(url(place, driver), poolclass=NullPool)
    assert nature(explore(lambda: book(engine), remedies=False)) is Nature.SCOPE
    assert nature(explore(lambda: leave(engine, 1), lambda: leave(engine, 2), remedies=False)) is Nature.LEVEL
    held = explore(lambda: book_in_one(engine))
    assert held.judgement is Judgement.HOLDS
    assert held.coverage.runs > 0


def nature(found: Exploration) -> Nature:
    assert found.judgement is Judgement.VIOLATED
    assert found.race is not None
    assert found.coverage.runs <= 3
    return found.race.nature


# -- ORM, async


@pytest.mark.parametrize("driver", ["asyncpg", "psycopg"])
def test_async_sessions_of_sqlalchemy(place: Endpoint, driver: str) -> None:
    engine = create_async_engine(url(place, driver), poolclass=NullPool)

    async def book_async() -> bool:
        async with AsyncSession(engine) as session:
            free = await session.scalar(select(Seat.free).where(Seat.id == 1))
        if not free:
            return False
        async with AsyncSession(engine) as session:
            await session.execute(update(Seat).where(Seat.id == 1).values(free=free - 1))
            await session.commit()
        return True

    async def book_at_once() -> bool:
        async with AsyncSession(engine) as session:
            done = await session.execute(
                text("UPDATE seat SET free = free - 1 WHERE id = 1 AND free > 0 RETURNING free")
            )
            found = done.all()
            await session.commit()
        return bool(found)

    assert nature(explore(book_async, remedies=False)) is Nature.SCOPE
    assert explore(book_at_once).judgement is Judgement.HOLDS


# -- asyncio and asyncpg


def test_asyncio_with_a_pool_on_the_loop_of_the_test(place: Endpoint) -> None:
    async def with_pool(work: Callable[[Any], Awaitable[None]]) -> None:
        address = {"host": place.host, "port": place.port, "user": place.user, "password": place.password}
        async with asyncpg.create_pool(**address, database="postgres", min_size=0) as pool:
            await work(pool)

    async def work(pool: Any) -> None:
        async def take() -> bool:
            free = await pool.fetchval("SELECT free FROM seat WHERE id = $1", 1)
            if not free:
                return False
            await pool.execute("UPDATE seat SET free = $1 WHERE id = 1", free - 1)
            return True

        async def take_locked() -> bool:
            async with pool.acquire() as connection, connection.transaction():
                free = await connection.fetchval("SELECT free FROM seat WHERE id = $1 FOR UPDATE", 1)
                if not free:
                    return False
                await connection.execute("UPDATE seat SET free = $1 WHERE id = 1", free - 1)
                return True

        async def leave_shift(number: int) -> None:
            async with pool.acquire() as connection, connection.transaction():
                if await connection.fetchval("SELECT count(*) FROM shift WHERE on_call") > 1:
                    await connection.execute("UPDATE shift SET on_call = false WHERE id = $1", number)

        async def first() -> None:
            await leave_shift(1)

        async def second() -> None:
            await leave_shift(2)

        found = await explore_async(take)
        assert nature(found) is Nature.SCOPE
        assert found.race is not None
        tried = {one.name: one for one in found.race.remedies}
        assert tried["one transaction"].tried is Tried.NOT_TRIED  # the pool takes the connection back
        assert "gives its connection back" in tried["one transaction"].why
        assert nature(await explore_async(first, second, remedies=False)) is Nature.LEVEL
        held = await explore_async(take_locked)
        assert held.judgement is Judgement.HOLDS
        assert held.coverage.runs > 0

    asyncio.run(with_pool(work))
