"""A market maker: a bid and an ask around the price of an AMM, within a limit of inventory. Ctrl-C cancels its orders. After a crash of this
program or the server run it again with the same file: no order is lost, and none is placed twice. The file is the first argument, or one for
the wallet in ~/.local/state/sluice-examples."""
import json
import os
import signal
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

from sluice_client import NoAnswerError, RefusedError, SluiceClient


def on(place: Any, **fields: object) -> Any:
    return {**place, **fields}


LOCAL: Any = {"chain": "ethereum", "network": "local"}
ADDRESS = os.environ.get("WALLET", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
BOOK = on(LOCAL, connector="oasis", market="WETH-USDC", address=ADDRESS)
POOL = on(LOCAL, connector="uniswap", base="WETH", quote="USDC", amount=1, side="SELL")
AMOUNT, SPREAD, TOLERANCE = Decimal("0.1"), Decimal("0.004"), Decimal("0.001")
LEAST, MOST = 1, 1000  # WETH that it holds
OVER = ("FILLED", "CANCELED", "EXPIRED", "REJECTED", "FAILED")
# What the book may take of the wallet: a new approval comes when less than a tenth is left.
ALLOWANCES = {"WETH": Decimal(100), "USDC": Decimal(300_000)}
STATES = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state", "sluice-examples")
FILE = Path(sys.argv[1]) if len(sys.argv) > 1 else STATES / f"market_maker-{ADDRESS}.json"

sluice = SluiceClient(os.environ.get("SLUICE_URL", "https://localhost:15888"), certs=os.environ.get("SLUICE_CERTS", "certs"))
state: dict[str, Any] = {"run": int(time.time()), "orders": 0, "next": None}
FILE.parent.mkdir(parents=True, exist_ok=True)
if FILE.exists():
    state = json.loads(FILE.read_text())


def keep(order: Any) -> None:
    """An order is kept before it is sent: whoever goes on sends the very same."""
    state["next"] = order
    with open(f"{FILE}.new", "w") as new:
        json.dump(state, new)
        new.flush()
        os.fsync(new.fileno())
    os.replace(f"{FILE}.new", FILE)


def place() -> None:
    order = state["next"]
    name = order["clientOrderId"]
    try:
        # Its name is its idempotency key: it is placed once, however often it is sent.
        became: str = sluice.post("/clob/orders", order, idempotency_key=name)["state"]
    except RefusedError as error:
        became = str(error)
    print(f"{name}: {order['side']} at {order['price']}: {became}", flush=True)
    keep(None)


def open_orders() -> list[Any]:
    orders = sluice.get("/clob/orders", BOOK)["orders"]
    return [each for each in orders if each.get("clientOrderId", "").startswith(f"{state['run']}-") and each["state"] not in OVER]


def cancel(order: Any) -> None:
    try:
        sluice.delete("/clob/orders", on(BOOK, clientOrderId=order["clientOrderId"]))
    except RefusedError as error:
        print(error, flush=True)


def approve() -> None:
    spender = BOOK["connector"]
    approvals = sluice.get("/evm/allowances", on(LOCAL, address=ADDRESS, spender=spender, tokenSymbols=list(ALLOWANCES)))["approvals"]
    for token, allowance in ALLOWANCES.items():
        if Decimal(approvals[token]) >= allowance / 10:
            continue
        sent = sluice.post("/evm/approve", on(LOCAL, address=ADDRESS, spender=spender, token=token, amount=allowance))
        became = sluice.wait_for(sent["txHash"], chain=LOCAL["chain"], network=LOCAL["network"])["txState"]
        print(f"{spender} may take {allowance} {token}: {became}", flush=True)


def quote() -> None:
    approve()
    mid = Decimal(sluice.get("/amm/price", POOL)["expectedAmount"])
    held = Decimal(sluice.get("/network/balances", on(LOCAL, address=ADDRESS, tokenSymbols=["WETH"]))["balances"]["WETH"])
    own = {order["side"]: order for order in open_orders()}
    for side, price, is_allowed in (("BUY", mid * (1 - SPREAD), held < MOST), ("SELL", mid * (1 + SPREAD), held > LEAST)):
        if side in own and abs(Decimal(own[side]["price"]) / price - 1) > TOLERANCE:
            cancel(own[side])
        if side not in own and is_allowed:
            state["orders"] += 1
            name = f"{state['run']}-{state['orders']}"
            keep(on(BOOK, orderType="LIMIT", side=side, amount=str(AMOUNT), price=f"{price:.2f}", clientOrderId=name))
            place()


def withdraw() -> bool:
    """Whether no order is left."""
    orders = open_orders()
    for order in orders:
        cancel(order)
    return not orders


ending: list[int] = []
signal.signal(signal.SIGINT, lambda number, _: ending.append(number))
while True:
    try:
        if state["next"] is not None:
            place()
        if not ending:
            quote()
        elif withdraw():
            break
    except (NoAnswerError, RefusedError) as error:
        print(error, flush=True)
    time.sleep(1)
print("No order is left.", flush=True)
sluice.close()
