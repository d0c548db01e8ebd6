"""Hummingbot's own HTTP client, and the loop of retries of its connector, unmodified: own-client.py <folder with its sources> <port> <wallet>

It prints one JSON document of what each of its methods returned or raised.
"""
import asyncio
import importlib
import json
import sys
from decimal import Decimal

from hummingbot_sources import Settings, load

folder, port, wallet = sys.argv[1], int(sys.argv[2]), sys.argv[3]
network = "ethereum-local"
_, lists, Config = load(
    folder,
    port,
    [
        "hummingbot.connector.gateway.gateway_base",
        "hummingbot.core.data_type.common",
        "hummingbot.core.data_type.trade_fee",
        "hummingbot.core.event.events",
        "hummingbot.core.gateway.gateway_http_client",
        "hummingbot.core.utils.async_utils",
    ],
)
GatewayHttpClient = importlib.import_module("hummingbot.core.gateway.gateway_http_client").GatewayHttpClient
GatewayBase = importlib.import_module("hummingbot.connector.gateway.gateway_base").GatewayBase
TradeType = importlib.import_module("hummingbot.core.data_type.common").TradeType


async def main():
    client = GatewayHttpClient(Config())
    seen = {}

    async def note(name, call):
        try:
            seen[name] = await call
        except Exception as error:
            seen[name] = {"raised": str(error)}
        return seen[name]

    client.start_monitor()
    await asyncio.wait_for(client.ready_event.wait(), 60)
    client.stop_monitor()
    seen["start"] = {
        **lists,
        "registered": list(Settings.known),
        "keys": len(client.gateway_config_keys),
    }
    await note("wallets", client.get_wallets())
    await note("default_wallet", client.get_default_wallet_for_chain("ethereum"))
    await note("native", client.get_native_currency_symbol("ethereum", "local"))
    await note("provider", client.get_default_swap_provider(network))
    await note("tokens", client.get_tokens("ethereum", "local"))
    await note("gas", client.estimate_gas("ethereum", "local"))
    await note("balances", client.get_balances("ethereum", "local", wallet, ["ETH", "WETH", "USDC"]))
    pair = dict(network=network, base_asset="WETH", quote_asset="USDC")
    await note("sell", client.get_price(**pair, amount=Decimal("0.5"), side=TradeType.SELL))
    await note("buy", client.get_price(**pair, amount=Decimal("0.5"), side=TradeType.BUY))
    swap = dict(**pair, side=TradeType.SELL, wallet_address=wallet)
    done = await note("swap", client.execute_swap(**swap, amount=Decimal("0.125")))
    if "signature" in done:
        await note("poll", client.get_transaction_status("ethereum", "local", done["signature"]))
    await note("again", client.execute_swap(**swap, amount=Decimal("0.125")))
    await note("poor", client.execute_swap(**swap, amount=Decimal("1000000")))
    await note("unknown", client.get_price(**{**pair, "base_asset": "NOSUCH"}, amount=Decimal("1"), side=TradeType.SELL))
    await note("key", client.add_wallet("ethereum", "0x" + "11" * 32))
    looped = object.__new__(GatewayBase)
    for name, amount in [("loop_of_a_swap", "0.0625"), ("loop_of_a_refusal", "1000000")]:
        count = 0

        async def operation():
            nonlocal count
            count += 1
            return await client.execute_swap(**swap, amount=Decimal(amount))

        await note(name, looped._execute_with_retry(operation, name))
        seen[name] = {"sent": count, "outcome": seen[name]}
    print(json.dumps(seen))


asyncio.run(main())
