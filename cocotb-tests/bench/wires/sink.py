# SPDX-License-Identifier: BSD-2-Clause
"""A queue for frames that a bench took off its own wire, with the interface of cocotbext-eth's
sinks."""

from cocotb.queue import Queue


class Sink:
    def __init__(self):
        self.queue = Queue()

    async def recv(self):
        return await self.queue.get()

    def count(self):
        return self.queue.qsize()

    def clear(self):
        while not self.queue.empty():
            self.queue.get_nowait()
