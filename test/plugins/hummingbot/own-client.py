"""Hummingbot's own HTTP client, unmodified, against a gateway: own-client.py <folder with its sources> <port> <wallet>

Its client is loaded from its file alone. What that file imports is stood in for here: aiohttp by http.client, the rest by names. It prints one JSON
document of what each of its methods returned or raised.
"""
import asyncio
import enum
import http.client
import importlib.util
import json
import logging
import pathlib
import sys
import types
import urllib.parse
from decimal import Decimal

folder, port, wallet = sys.argv[1], int(sys.argv[2]), sys.argv[3]
network = "ethereum-local"


def module(name, **names):
    made = types.ModuleType(name)
    made.__dict__.update(names)
    made.__path__ = []
    sys.modules[name] = made
    return made


class ContentTypeError(Exception):
    pass


class Response:
    def __init__(self, status, content_type, text):
        self.status, self._type, self._text = status, content_type, text

    async def text(self):
        return self._text

    async def json(self):
        if "application/json" not in (self._type or ""):
            raise ContentTypeError(self._type)
        return json.loads(self._text)


class ClientSession:
    """Sends what aiohttp would: a query as text, a body as JSON of Python's numbers."""

    def __init__(self, connector=None):
        pass

    async def _send(self, method, url, params=None, json_body=None):
        parts = urllib.parse.urlsplit(url)
        target = (parts.path or "/") + ("?" + urllib.parse.urlencode(params) if params else "")
        body = None if json_body is None else json.dumps(json_body)

        def call():
            line = http.client.HTTPConnection(parts.hostname, parts.port, timeout=300)
            try:
                line.request(method, target, body, {"Content-Type": "application/json"} if body else {})
                answer = line.getresponse()
                return Response(answer.status, answer.getheader("Content-Type"), answer.read().decode())
            finally:
                line.close()

        return await asyncio.to_thread(call)

    async def get(self, url, params=None, json=None, timeout=None):
        return await self._send("GET", url, params, json)

    async def post(self, url, json=None):
        return await self._send("POST", url, None, json)

    async def delete(self, url, json=None):
        return await self._send("DELETE", url, None, json)


class Config:
    gateway_api_host, gateway_api_port, gateway_use_ssl = "localhost", port, False


class Settings:
    known = {}

    @classmethod
    def get_connector_settings(cls):
        return cls.known


class Named:
    def __init__(self, **names):
        self.__dict__.update(names)


class Kind(enum.Enum):
    GATEWAY_DEX = "GATEWAY_DEX"


class TradeType(enum.Enum):
    BUY, SELL, RANGE = 1, 2, 3


def namespace_keys(keys, tree, prefix=""):
    for name, value in tree.items():
        keys.append(prefix + name)
        if isinstance(value, dict):
            namespace_keys(keys, value, prefix + name + ".")


logging.Logger.network = lambda self, *_, **__: None
dexs, chains, namespaces = [], [], []
module("aiohttp", ContentTypeError=ContentTypeError, ClientSession=ClientSession, ClientTimeout=Named, TCPConnector=Named)
for name in ["", ".client", ".client.config", ".core", ".core.data_type", ".core.event", ".core.utils"]:
    module("hummingbot" + name)
module("hummingbot.client.config.client_config_map", GatewayConfigMap=Config)
module("hummingbot.client.config.security", Security=Named)
module(
    "hummingbot.client.settings",
    GATEWAY_CHAINS=chains,
    GATEWAY_DEXS=dexs,
    GATEWAY_ETH_DEXS=[],
    GATEWAY_NAMESPACES=namespaces,
    AllConnectorSettings=Settings,
    ConnectorSetting=Named,
    ConnectorType=Kind,
)
module("hummingbot.core.data_type.trade_fee", TradeFeeSchema=Named)
module("hummingbot.core.event.events", TradeType=TradeType)
module("hummingbot.core.utils.async_utils", safe_ensure_future=asyncio.ensure_future)
module("hummingbot.core.utils.gateway_config_utils", build_config_namespace_keys=namespace_keys)
module("hummingbot.logger", HummingbotLogger=logging.Logger)

source = pathlib.Path(folder) / "hummingbot/core/gateway/gateway_http_client.py"
spec = importlib.util.spec_from_file_location("gateway_http_client", source)
loaded = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loaded)


class AnyName(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return cls


class Anything(metaclass=AnyName):
    pass


class AnyModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything


def connector():
    """Their connector, unmodified, for its loop of retries: nothing else of it is run."""
    path = pathlib.Path(folder) / "hummingbot/connector/gateway/gateway_base.py"
    text = path.read_text()
    for line in text.splitlines():
        name = line.split()[1] if line.startswith("from hummingbot.") else None
        if name and name not in sys.modules:
            sys.modules[name] = AnyModule(name)
    sys.modules["hummingbot.core.utils.async_utils"].safe_gather = asyncio.gather
    sys.modules["hummingbot.core.event.events"].__class__ = AnyModule
    sys.modules["hummingbot.core.data_type.trade_fee"].__class__ = AnyModule
    sys.modules["hummingbot.core.gateway.gateway_http_client"] = loaded
    made = importlib.util.spec_from_file_location("gateway_base", path)
    base = importlib.util.module_from_spec(made)
    made.loader.exec_module(base)
    return object.__new__(base.GatewayBase)


async def main():
    client = loaded.GatewayHttpClient(Config())
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
        "dexs": dexs,
        "chains": chains,
        "namespaces": namespaces,
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
    looped = connector()
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
