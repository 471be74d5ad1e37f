"""Whether the storage can be read: asked in a thread of its own, so that nobody's work delays it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from bestgroup.errors import StoreError

AGE = 1.0  # seconds that an answer holds
PATIENCE = 5.0  # seconds to wait for the storage


class Pulse:
    """The last answer of the storage, and the question under way."""

    def __init__(self, ping: Callable[[], None]) -> None:
        self._ping = ping
        self._pool = ThreadPoolExecutor(1, "pulse")
        self._asked: Future[None] | None = None
        self._good = float("-inf")

    async def beat(self) -> None:
        """Return if the storage answers; StoreError if it does not."""
        if time.monotonic() - self._good < AGE:
            return
        if self._asked is None or self._asked.done():
            self._asked = self._pool.submit(self._ping)
        try:
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self._asked)), PATIENCE)
        except TimeoutError:
            raise StoreError(f"the storage has not answered for {PATIENCE:g} s") from None
        self._good = time.monotonic()

    def close(self) -> None:
        """Ask no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
