"""Hummingbot's own LP executor and connector, unmodified: own-executor.py <folder with its sources> <port> <connector> <pool>

It prints one JSON document of what became of the positions of its executors.
"""
import asyncio
import importlib
import json
import logging
import sys
import time
from decimal import Decimal

from hummingbot_sources import ClientSession, load

folder, port, dex, pool = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
network = "ethereum-local"
logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)
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
        "hummingbot.strategy_v2.executors.data_types",
        "hummingbot.strategy_v2.executors.executor_base",
        "hummingbot.strategy_v2.executors.gateway_utils",
        "hummingbot.strategy_v2.executors.lp_executor.data_types",
        "hummingbot.strategy_v2.executors.lp_executor.lp_executor",
        "hummingbot.strategy_v2.models.base",
        "hummingbot.strategy_v2.models.executors",
        "hummingbot.strategy_v2.runnable_base",
    ],
)
theirs = importlib.import_module
GatewayHttpClient = theirs("hummingbot.core.gateway.gateway_http_client").GatewayHttpClient
Gateway = theirs("hummingbot.connector.gateway.gateway").Gateway
TradeType = theirs("hummingbot.core.data_type.common").TradeType
LPExecutor = theirs("hummingbot.strategy_v2.executors.lp_executor.lp_executor").LPExecutor
LPExecutorConfig = theirs("hummingbot.strategy_v2.executors.lp_executor.data_types").LPExecutorConfig


async def until(holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("what an executor was waited for did not come")
        await asyncio.sleep(0.05)


async def say(word):
    """Until whoever runs this has done so."""
    print(word, file=sys.stderr, flush=True)
    await asyncio.to_thread(sys.stdin.readline)


class Strategy:
    def __init__(self, connector):
        self.connectors = {network: connector}

    @property
    def current_timestamp(self):
        return time.time()


def posts(since):
    """What was sent of liquidity and swaps, as path and body."""
    sent = ClientSession.sent[since:]
    return [{"path": path, **json.loads(body)} for method, path, body in sent if method == "POST" and any(w in path for w in ("clmm", "execute"))]


def shown(executor):
    """What it books, in its own numbers."""
    state = executor.lp_position_state
    return {
        "state": state.state.name,
        "close": executor.close_type and executor.close_type.name,
        "open": state.open_tx_hash,
        "closed": state.close_tx_hash,
        "initial": [str(state.initial_base_amount), str(state.initial_quote_amount)],
        "returned": [str(state.base_amount), str(state.quote_amount)],
        "fees": [str(state.base_fee), str(state.quote_fee)],
        "txFee": str(state.tx_fee),
        "addPrice": str(state.add_mid_price),
        "price": str(executor._current_price),
        "profit": str(executor.get_net_pnl_quote()),
        "held": executor._held_position_orders,
    }


async def main():
    GatewayHttpClient.get_instance(Config())
    connector = Gateway(connector_name=network, trading_pairs=[], gateway_config=Config())
    connector.POLL_INTERVAL = 0.2
    await connector.start_network()
    await until(lambda: connector.address is not None and connector.chain is not None)

    async def tick():
        while True:
            connector.tick(time.time())
            await asyncio.sleep(0.1)

    ticking = asyncio.ensure_future(tick())
    info = await connector.get_pool_info_by_address(pool, dex_name=dex, trading_type="clmm")
    tokens = {token["address"].lower(): token["symbol"] for token in (await GatewayHttpClient.get_instance().get_tokens("ethereum", "local"))["tokens"]}
    pair = "-".join(tokens[address.lower()] for address in (info.base_token_address, info.quote_token_address))
    is_coin_base = pair.startswith("WETH")
    price = Decimal(str(info.price))
    seen = {"loaded": loader.loaded, "pair": pair}

    def new_executor(name, width=Decimal("0.1"), size=Decimal(1), **more):
        base, quote = (Decimal("0.5"), Decimal(1500)) if is_coin_base else (Decimal(1500), Decimal("0.5"))
        config = LPExecutorConfig(
            id=name,
            timestamp=time.time(),
            connector_name=network,
            lp_provider=f"{dex}/clmm",
            pool_address=pool,
            trading_pair=pair,
            lower_price=price * (1 - width),
            upper_price=price * (1 + width),
            base_amount=base * size,
            quote_amount=quote * size,
            side=TradeType.RANGE,
            **more,
        )
        return LPExecutor(Strategy(connector), config, update_interval=0.25)

    async def opened(executor):
        executor.start()
        await until(lambda: executor.lp_position_state.state.name in ("IN_RANGE", "OUT_OF_RANGE", "FAILED"))

    async def ended(executor):
        try:
            await until(lambda: executor.is_closed)
        except TimeoutError as error:
            raise TimeoutError(json.dumps(shown(executor))) from error
        return shown(executor)

    async def noted(name, run):
        since = len(ClientSession.sent)
        await say(f"book before {name}")
        seen[name] = await run()
        await say(f"book after {name}")
        seen[name]["sent"] = posts(since)

    async def life():
        """Its liquidity earns fees, it looks at it each second, and it is stopped with what it holds."""
        executor = new_executor("life")
        await opened(executor)
        await say("trades")
        # It keeps what it read for five seconds.
        await until(lambda: executor.lp_position_state.quote_fee > 0 or executor.lp_position_state.base_fee > 0)
        watched = shown(executor)
        executor.early_stop(keep_position=True)
        return {"watched": watched, **await ended(executor)}

    async def close_out():
        """The price leaves its limit: it closes and swaps back what it has more or less of the base."""
        executor = new_executor("close_out", keep_position=False, lower_limit_price=price * Decimal("0.9997"), upper_limit_price=price * Decimal("1.0003"))
        since = len(connector.events)
        await opened(executor)
        await say("fall")
        done = await ended(executor)
        fills = [event for name, event in connector.events[since:] if name == "OrderFilled" and event.trade_type is not TradeType.RANGE]
        return {**done, "swaps": [{"side": fill.trade_type.name, "amount": str(fill.amount)} for fill in fills]}

    async def lost_open():
        """The answer of its open is lost: it ends as failed, and the next of the same kind has that position."""
        await say("no blocks")
        ClientSession.losing, ClientSession.to_lose = ("open-position",), 1
        first = new_executor("lost_open", size=Decimal("0.5"))
        first.start()
        failed = await ended(first)
        await say("blocks")
        second = new_executor("lost_open", size=Decimal("0.5"))
        await opened(second)
        second.early_stop(keep_position=True)
        return {"failed": failed, **await ended(second)}

    async def lost_close():
        """The answer of its close is lost: it ends as failed, and whoever closes by the address has what it gave back."""
        executor = new_executor("lost_close", size=Decimal("0.25"))
        await opened(executor)
        position = executor.lp_position_state.position_address
        await say("no blocks")
        ClientSession.losing, ClientSession.to_lose = ("close-position",), 1
        executor.early_stop(keep_position=True)
        failed = await ended(executor)
        await say("blocks")
        order_id = connector.create_market_order_id(TradeType.RANGE, pair)
        signature = await connector._clmm_close_position(
            trade_type=TradeType.RANGE, order_id=order_id, trading_pair=pair, position_address=position, dex_name=dex
        )
        told = {name: str(value) for name, value in connector._lp_orders_metadata[order_id].items()}
        return {"failed": failed, "position": position, "signature": signature, "told": told}

    async def refused_look():
        """Its node does not have the position when it closes: it takes the refusal for proof that it is gone, and ends as complete."""
        executor = new_executor("refused_look", size=Decimal("0.3"))
        await opened(executor)
        position = executor.lp_position_state.position_address
        await say("no readings")
        # As the executor asks: what it read is kept for five seconds under these.
        asked = {"trading_pair": pair, "dex_name": dex, "trading_type": "clmm", "position_address": position}
        while await connector.get_position_info(**asked) is not None:
            await asyncio.sleep(0.2)
        executor.early_stop(keep_position=True)
        done = await ended(executor)
        await say("readings")
        return {**done, "position": position}

    async def stopped_while_opening():
        """It ends as failed, and forgets what it asked for: the position is in the list of the wallet's, where hummingbot-api finds and closes it."""
        executor = new_executor("stopped", size=Decimal("0.125"))
        known = {each.address for each in await connector.get_user_positions(dex_name=dex, pool_address=pool)}
        since = len(ClientSession.sent)
        await say("no blocks")
        executor.start()
        await until(lambda: any("open-position" in path for _, path, _ in ClientSession.sent[since:]))
        executor.early_stop(keep_position=True)
        await say("blocks")
        failed = await ended(executor)
        found = [each for each in await connector.get_user_positions(dex_name=dex, pool_address=pool) if each.address not in known]
        order_id = connector.create_market_order_id(TradeType.RANGE, pair)
        closing = [
            connector._clmm_close_position(trade_type=TradeType.RANGE, order_id=order_id, trading_pair=pair, position_address=each.address, dex_name=dex)
            for each in found
        ]
        return {"failed": failed, "position": executor.lp_position_state.position_address, "found": [each.address for each in found], "closed": await asyncio.gather(*closing)}

    for name, run in [
        ("life", life),
        ("closeOut", close_out),
        ("lostOpen", lost_open),
        ("lostClose", lost_close),
        ("refusedLook", refused_look),
        ("stoppedWhileOpening", stopped_while_opening),
    ]:
        await noted(name, run)
    ticking.cancel()
    await connector.stop_network()
    print(json.dumps(seen, default=str))


asyncio.run(main())
