"""Hummingbot's own controllers lp_rebalancer and xemm_multiple_levels, unmodified, with the executors that they ask for:
own-controllers.py <folder with its sources> <port> <connector> <pool>

It prints one JSON document of what became of their executors.
"""
import asyncio
import importlib
import json
import logging
import sys
import time
from decimal import Decimal
from types import SimpleNamespace

from hummingbot_sources import ClientSession, Settings, load

folder, port, dex, pool = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
network = "ethereum-local"
logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)
loader, _, Config = load(
    folder,
    port,
    [
        "controllers.generic.lp_rebalancer.lp_rebalancer",
        "controllers.generic.xemm_multiple_levels",
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
        "hummingbot.strategy_v2.controllers",
        "hummingbot.strategy_v2.controllers.controller_base",
        "hummingbot.strategy_v2.executors.data_types",
        "hummingbot.strategy_v2.executors.executor_base",
        "hummingbot.strategy_v2.executors.gateway_utils",
        "hummingbot.strategy_v2.executors.lp_executor.data_types",
        "hummingbot.strategy_v2.executors.lp_executor.lp_executor",
        "hummingbot.strategy_v2.executors.xemm_executor.data_types",
        "hummingbot.strategy_v2.executors.xemm_executor.xemm_executor",
        "hummingbot.strategy_v2.models.base",
        "hummingbot.strategy_v2.models.executor_actions",
        "hummingbot.strategy_v2.models.executors",
        "hummingbot.strategy_v2.runnable_base",
    ],
)
theirs = importlib.import_module
GatewayHttpClient = theirs("hummingbot.core.gateway.gateway_http_client").GatewayHttpClient
Gateway = theirs("hummingbot.connector.gateway.gateway").Gateway
TradeType = theirs("hummingbot.core.data_type.common").TradeType
LPExecutor = theirs("hummingbot.strategy_v2.executors.lp_executor.lp_executor").LPExecutor
XEMMExecutor = theirs("hummingbot.strategy_v2.executors.xemm_executor.xemm_executor").XEMMExecutor
rebalancer = theirs("controllers.generic.lp_rebalancer.lp_rebalancer")
xemm = theirs("controllers.generic.xemm_multiple_levels")


async def until(holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("what an executor was waited for did not come")
        await asyncio.sleep(0.05)


class Strategy:
    def __init__(self, connector):
        self.connectors = {network: connector, "maker": connector}

    @property
    def current_timestamp(self):
        return time.time()


class Market:
    """What controllers ask of prices and wallets."""

    ready = True

    def __init__(self, connector, mid_price):
        self._connector, self._mid_price = connector, mid_price

    def time(self):
        return time.time()

    def initialize_rate_sources(self, _):
        pass

    def get_connector(self, _):
        return self._connector

    def get_balance(self, _, name):
        return self._connector.get_balance(name)

    def get_price_by_type(self, *_):
        return self._mid_price


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
    price = Decimal(str(info.price))
    # 300 dollars, of which a third is no decimal number.
    total = Decimal(300) / 7 if pair.endswith("USDC") else Decimal("0.1") / 7

    async def rebalanced(side):
        config = rebalancer.LPRebalancerConfig(
            id=f"rebalancer-{side.name}",
            connector_name=network,
            lp_provider=f"{dex}/clmm",
            trading_pair=pair,
            pool_address=pool,
            total_amount_quote=total,
            side=side,
            position_width_pct=Decimal(10),
            position_offset_pct=Decimal(1),
        )
        controller = rebalancer.LPRebalancer(config, Market(connector, price), asyncio.Queue())
        controller.executors_info = []
        await controller.update_processed_data()
        (action,) = controller.determine_executor_actions()
        since = len(ClientSession.sent)
        executor = LPExecutor(Strategy(connector), action.executor_config, update_interval=0.25)
        executor.start()
        await until(lambda: executor.lp_position_state.state.name in ("IN_RANGE", "OUT_OF_RANGE", "FAILED"))
        opened = executor.lp_position_state.state.name
        executor.early_stop(keep_position=True)
        await until(lambda: executor.is_closed)
        sent = [json.loads(body) for method, path, body in ClientSession.sent[since:] if method == "POST" and "open-position" in path]
        return {
            "opened": opened,
            "state": executor.lp_position_state.state.name,
            "sent": [[str(each.get("base_token_amount", each.get("baseTokenAmount"))), str(each.get("quote_token_amount", each.get("quoteTokenAmount")))] for each in sent],
        }

    async def hedged():
        """Prices of the takers of its levels: both sides of both levels."""
        Settings.known[network] = {}
        config = xemm.XEMMMultipleLevelsConfig(
            id="xemm",
            maker_connector="maker",
            maker_trading_pair="WETH-USDC",
            taker_connector=network,
            taker_trading_pair="WETH-USDC",
            buy_levels_targets_amount=[[Decimal("0.003"), Decimal(10)], [Decimal("0.006"), Decimal(20)]],
            sell_levels_targets_amount=[[Decimal("0.003"), Decimal(10)], [Decimal("0.006"), Decimal(20)]],
            min_profitability=Decimal("0.002"),
            max_profitability=Decimal("0.01"),
            max_executors_imbalance=1,
            total_amount_quote=Decimal(1000),
        )
        controller = xemm.XEMMMultipleLevels(config, Market(connector, Decimal("3001.7")), asyncio.Queue())
        controller.executors_info = []
        prices = []
        for action in controller.determine_executor_actions():
            executor = XEMMExecutor(Strategy(connector), action.executor_config)
            found = await executor.get_resulting_price_for_amount(
                connector=executor.taker_connector,
                trading_pair=executor.taker_trading_pair,
                is_buy=executor.taker_order_side == TradeType.BUY,
                order_amount=executor.config.order_amount,
            )
            prices.append({"amount": str(executor.config.order_amount), "price": None if found is None else str(found)})
        return prices

    seen = {"loaded": loader.loaded, "pair": pair}
    for side in (TradeType.RANGE, TradeType.SELL, TradeType.BUY):
        seen[side.name] = await rebalanced(side)
    seen["xemm"] = await hedged()
    ticking.cancel()
    await connector.stop_network()
    print(json.dumps(seen, default=str))


asyncio.run(main())
