"""Hummingbot's own connector, order tracker, data feed and arbitrage executor, unmodified: own-connector.py <folder with its sources> <port>

It prints one JSON document of what became of their orders.
"""
import asyncio
import importlib
import json
import sys
import time
from decimal import Decimal
from types import SimpleNamespace

from hummingbot_sources import ClientSession, load

folder, port = sys.argv[1], int(sys.argv[2])
network, pair = "ethereum-local", "WETH-USDC"
loader, _, Config = load(
    folder,
    port,
    [
        "hummingbot.connector.client_order_tracker",
        "hummingbot.connector.gateway.common_types",
        "hummingbot.connector.gateway.gateway",
        "hummingbot.connector.gateway.gateway_base",
        "hummingbot.connector.gateway.gateway_in_flight_order",
        "hummingbot.core.data_type.cancellation_result",
        "hummingbot.core.data_type.common",
        "hummingbot.core.data_type.in_flight_order",
        "hummingbot.core.data_type.trade_fee",
        "hummingbot.core.event.events",
        "hummingbot.core.gateway.gateway_http_client",
        "hummingbot.core.network_base",
        "hummingbot.core.utils.async_utils",
        "hummingbot.core.utils.tracking_nonce",
        "hummingbot.data_feed.amm_gateway_data_feed",
        "hummingbot.strategy_v2.executors.arbitrage_executor.arbitrage_executor",
        "hummingbot.strategy_v2.executors.executor_base",
        "hummingbot.strategy_v2.models.base",
        "hummingbot.strategy_v2.models.executors",
        "hummingbot.strategy_v2.runnable_base",
    ],
)
theirs = importlib.import_module
GatewayHttpClient = theirs("hummingbot.core.gateway.gateway_http_client").GatewayHttpClient
Gateway = theirs("hummingbot.connector.gateway.gateway").Gateway
common = theirs("hummingbot.core.data_type.common")
OrderType = common.OrderType


class Clock:
    """Ticks as theirs does, once a second; here more often."""

    def __init__(self, connector):
        self._connector = connector
        connector.POLL_INTERVAL = 0.2

    async def run(self):
        while True:
            self._connector.tick(time.time())
            await asyncio.sleep(0.1)


async def until(holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.05)
    return True


async def say(word):
    """Until whoever runs this has done so."""
    print(word, file=sys.stderr, flush=True)
    await asyncio.to_thread(sys.stdin.readline)


def shown(order):
    return {
        "state": order.current_state.name,
        "signature": order.exchange_order_id,
        "amount": str(order.amount),
        "filled": str(order.executed_amount_base),
        "received": str(order.executed_amount_quote),
        "fees": [str(fee.amount) for fill in order.order_fills.values() for fee in fill.fee.flat_fees],
    }


def is_over(order):
    """Its own `is_done` is true before its last update is taken in."""
    return order.current_state.name in ("FILLED", "FAILED")


def balances_of(connector):
    return {name: str(amount) for name, amount in connector._account_balances.items()}


async def main():
    client = GatewayHttpClient.get_instance(Config())
    connector = Gateway(connector_name=network, trading_pairs=[pair], gateway_config=Config())
    await connector.start_network()
    ticking = asyncio.ensure_future(Clock(connector).run())
    seen = {"loaded": loader.loaded}
    seen["start"] = {
        "ready": await until(lambda: connector.ready),
        "chain": connector.chain,
        "network": connector.network,
        "address": connector.address,
        "provider": connector.swap_provider,
        "connected": (await connector.check_network()).name,
        "balances": balances_of(connector),
    }

    def place(is_buy, amount, **more):
        side = connector.buy if is_buy else connector.sell
        return side(pair, Decimal(amount), OrderType.LIMIT, Decimal(3000), **more)

    async def ended(*ids):
        orders = [connector.get_order(each) for each in ids]
        if None in orders:
            await until(lambda: all(connector.get_order(each) is not None for each in ids))
            orders = [connector.get_order(each) for each in ids]
        await until(lambda: all(is_over(order) for order in orders))
        return [shown(order) for order in orders]

    # A round of market making: prices of both sides, an order of each, balances.
    bid, ask = [await connector.get_quote_price(pair, is_buy, Decimal("0.11")) for is_buy in (False, True)]
    made = await ended(place(True, "0.11"), place(False, "0.11"))
    before = balances_of(connector)
    await connector.update_balances()
    cancelled = await connector.cancel_all(5)
    seen["round"] = {"bid": str(bid), "ask": str(ask), "orders": made, "before": before, "after": balances_of(connector), "cancelled": cancelled}

    seen["hedges"] = await ended(place(False, "0.12"), place(False, "0.12"))

    quoted = await client.quote_swap(
        network=network, base_asset="WETH", quote_asset="USDC", amount=Decimal("0.13"), side=common.TradeType.SELL
    )
    seen["quoted"] = await ended(place(False, "0.13", quote_id=quoted["quoteId"]))

    # Its answer comes without amounts where no block comes in time: the poll fills it.
    await say("no blocks")
    slow = place(False, "0.14")
    await until(lambda: connector.get_order(slow) is not None and connector.get_order(slow).exchange_order_id is not None)
    open_before = [order.client_order_id for order in connector.gateway_orders]
    await say("blocks")
    seen["polled"] = {"open": slow in open_before, "orders": await ended(slow)}

    events = len(connector.events)
    seen["refused"] = await ended(place(False, "1000000"))
    seen["refusal"] = [name for name, _ in connector.events[events:]]

    seen["arbitrage"] = await arbitrage(connector)
    seen["feed"] = await feed()
    ticking.cancel()
    await connector.stop_network()
    print(json.dumps(seen))


async def arbitrage(connector):
    """Both legs at once; the answer to one is lost, and the executor places it again in the event of its failure."""
    executors = theirs("hummingbot.strategy_v2.executors.arbitrage_executor.arbitrage_executor")
    market = SimpleNamespace(connector_name=network, trading_pair=pair)
    config = SimpleNamespace(
        id="1",
        type="arbitrage_executor",
        timestamp=time.time(),
        controller_id="main",
        buying_market=market,
        selling_market=market,
        order_amount=Decimal("0.15"),
        min_profitability=Decimal(-1),
        gas_conversion_price=Decimal(1),
    )

    def order(place):
        return lambda connector_name, trading_pair, amount, order_type, price, *_: place(trading_pair, amount, order_type, price)

    strategy = SimpleNamespace(connectors={network: connector}, current_timestamp=time.time(), buy=order(connector.buy), sell=order(connector.sell))
    executor = executors.ArbitrageExecutor(strategy, config, update_interval=0.1)
    before = len(ClientSession.sent)
    await say("no blocks")
    ClientSession.to_lose = 1
    executor.start()
    await until(lambda: ClientSession.lost == 1)
    await say("blocks")
    await until(lambda: executor.is_closed and all(is_over(leg.order) for leg in (executor.buy_order, executor.sell_order)))
    sent = [json.loads(body) for method, path, body in ClientSession.sent[before:] if method == "POST" and "execute" in path]
    return {
        "close": executor.close_type.name,
        "failures": executor._cumulative_failures,
        "sent": [body["side"] for body in sent],
        "legs": [shown(leg.order) for leg in (executor.buy_order, executor.sell_order)],
    }


async def feed():
    feeds = theirs("hummingbot.data_feed.amm_gateway_data_feed")
    found = feeds.AmmGatewayDataFeed("uniswap/router", {pair}, Decimal("0.2"), update_interval=0.2)
    await found.start_network()
    await until(found.is_ready, 20)
    await found.stop_network()
    return {name: {"buy": str(price.buy_price), "sell": str(price.sell_price), "on": f"{price.chain}-{price.network}"} for name, price in found.price_dict.items()}


asyncio.run(main())
