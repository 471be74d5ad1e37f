"""Whether the storage can be read: asked in a thread of its own, so that nobody's work delays it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from bestgroup.errors import StoreError

AGE = 1.0  # seconds that an answer holds
PATIENCE = 5.0  # seconds to wait for the storage


class Pulse:
    """The last answer of the storage, and the question under way."""

    def __init__(self, ping: Callable[[], None]) -> None:
        self._ping = ping
        self._asked: Future[None] | None = None
        self._good = float("-inf")

    async def beat(self) -> None:
        """Return if the storage answers; StoreError if it does not."""
        if time.monotonic() - self._good < AGE:
            return
        if self._asked is None or self._asked.done():
            self._asked = Future()
            threading.Thread(target=self._ask, args=(self._asked,), daemon=True).start()
        try:
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self._asked)), PATIENCE)
        except TimeoutError:
            raise StoreError(f"the storage has not answered for {PATIENCE:g} s") from None
        self._good = time.monotonic()

    def _ask(self, asked: Future[None]) -> None:
        try:
            asked.set_result(self._ping())
        except BaseException as error:
            asked.set_exception(error)
