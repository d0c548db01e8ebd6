"""What client-python.rest.test.ts has the Python client do: one case for each run. It prints JSON lines, and waits for a line where it says "ready"."""
from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.client import IncompleteRead
from threading import Thread, Timer
from typing import Any

from sluice_client import SluiceClient, SluiceError

ADDRESS = os.environ["ADDRESS"]
PRICE: Any = {"chain": "ethereum", "network": "local", "connector": "uniswap", "base": "ETH", "quote": "USDC", "side": "SELL", "amount": "0.1"}
TRADE: Any = {**PRICE, "address": ADDRESS}


def say(value: object) -> None:
    # In one piece: other threads write too.
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


def ready() -> str:
    say("ready")
    return sys.stdin.readline().strip()


def shown(error: SluiceError) -> dict[str, object]:
    fields = ("name", "code", "status", "details", "request_id", "idempotency_key")
    return {"type": type(error).__name__, "message": str(error), **{each: getattr(error, each) for each in fields}}


def wait_for(sluice: SluiceClient, tx_hash: str) -> Any:
    return sluice.wait_for(tx_hash, chain="ethereum", network="local")


def trade(sluice: SluiceClient) -> None:
    quote = sluice.get("/amm/price", {**PRICE, "amount": Decimal("1E-1")})
    sent = sluice.post("/amm/trade", {**TRADE, "limitPrice": quote["slippagePrice"]})
    poll = wait_for(sluice, sent["txHash"])
    say([poll["txState"], poll["fill"]["amountIn"], poll["fill"]["amountOut"] == quote["expectedAmount"]])


def lists(sluice: SluiceClient) -> None:
    answer = sluice.get("/network/balances", {"chain": "ethereum", "network": "local", "address": ADDRESS, "tokenSymbols": ["ETH", "USDC"]})
    say(list(answer["balances"]))


def refused(sluice: SluiceClient) -> None:
    for request in ({**PRICE, "base": "NOPE"}, {"chain": "ethereum", "network": "local"}):
        try:
            sluice.get("/amm/price", request)
        except SluiceError as error:
            say(shown(error))


def floats(sluice: SluiceClient) -> None:
    for amount in (0.1 + 0.2, 1.0, [0.5], Decimal("NaN")):
        try:
            sluice.post("/amm/trade", {**TRADE, "amount": amount})
        except (TypeError, ValueError) as error:
            say([type(error).__name__, str(error)])


def lost(sluice: SluiceClient) -> None:
    sluice.get("/")
    key = ready()
    hashes = [sluice.post("/amm/trade", TRADE, idempotency_key=key)["txHash"] for _ in range(2)]
    poll = wait_for(sluice, hashes[0])
    say([*hashes, poll["txState"]])


def nobody(sluice: SluiceClient) -> None:
    sluice.get("/")
    ready()
    try:
        sluice.post("/amm/trade", TRADE, timeout=0.5)
    except SluiceError as error:
        say(shown(error))
        ready()
        sent = sluice.post("/amm/trade", TRADE, idempotency_key=error.idempotency_key)
        say(wait_for(sluice, sent["txHash"])["txState"])


def away(sluice: SluiceClient) -> None:
    tx_hash = sluice.post("/amm/trade", TRADE)["txHash"]
    ready()
    say([tx_hash, wait_for(sluice, tx_hash)["txState"]])


def unknown(sluice: SluiceClient) -> None:
    try:
        wait_for(sluice, f"0x{'12' * 32}")
    except SluiceError as error:
        say(shown(error))


def events(sluice: SluiceClient) -> None:
    # Nothing is asserted of the time: it ends a test that would not end.
    Timer(300, sluice.close).start()
    for event in sluice.events({"topics": ["transactions"], "address": ADDRESS}):
        if event.topic == "transactions":
            say([event.topic, event.id, event.data["nonce"], event.data["txState"]])
        else:
            say([event.topic, event.id])


class Cut:
    """An answer that ends after so many bytes."""

    def __init__(self, response: Any, left: int) -> None:
        self.response, self.left = response, left

    def read1(self, size: int) -> bytes:
        if self.left <= 0:
            raise IncompleteRead(b"")
        chunk: bytes = self.response.read1(min(size, self.left))
        self.left -= len(chunk)
        return chunk


def exported(sluice: SluiceClient) -> None:
    whole = [line["id"] for line in sluice.export_transactions({"address": ADDRESS})]
    transport: Any = sluice._transport
    stream = transport.stream
    cuts = iter((3_000, 2_000))

    @contextmanager
    def broken(*args: Any) -> Iterator[Any]:
        with stream(*args) as response:
            left = next(cuts, None)
            yield response if left is None else Cut(response, left)

    transport.stream = broken
    again = [line["id"] for line in sluice.export_transactions({"address": ADDRESS})]
    say([len(whole), whole == again, next(cuts, None), len(list(sluice.export_transactions({"address": ADDRESS, "limit": 1})))])
    try:
        next(sluice.export_transactions({"cursor": "x"}))
    except SluiceError as error:
        say(shown(error))


def closed(sluice: SluiceClient) -> None:
    def follow() -> None:
        for event in sluice.events():
            say(event.topic)
        say("ended")

    thread = Thread(target=follow)
    thread.start()
    ready()
    sluice.close()
    thread.join()


def refused_events(sluice: SluiceClient) -> None:
    try:
        next(sluice.events({"topics": ["blocks"], "chain": "nowhere"}))
    except SluiceError as error:
        say(shown(error))


def revoked(sluice: SluiceClient) -> None:
    sluice.get("/")
    ready()
    try:
        sluice.get("/amm/price", PRICE)
    except SluiceError as error:
        say(shown(error))


def revoked_events(sluice: SluiceClient) -> None:
    try:
        for event in sluice.events():
            say(event.topic)
    except SluiceError as error:
        say(shown(error))


def other_version(sluice: SluiceClient) -> None:
    try:
        sluice.post("/amm/trade", TRADE)
    except SluiceError as error:
        say(shown(error))


def threads(sluice: SluiceClient) -> None:
    """Each thread looks whether the answers are to what it asked."""
    wrong: list[str] = []

    def ask(first: int) -> None:
        for thousandths in range(first, first + 20):
            amount = Decimal(thousandths) / 1000
            answer = sluice.get("/amm/price", {**PRICE, "amount": amount})
            if Decimal(answer["amount"]) != amount:
                wrong.append(answer["amount"])

    started = [Thread(target=ask, args=(first,)) for first in (1, 101, 201, 301)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    say(wrong)


with SluiceClient(os.environ["SLUICE_URL"], certs=os.environ["SLUICE_CERTS"], name=os.environ.get("NAME", "client"), timeout=20) as client:
    globals()[sys.argv[1]](client)
