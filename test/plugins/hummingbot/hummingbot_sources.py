"""Loads files of Hummingbot, unmodified, from a folder with its sources, and stands in for the rest of what these import.

Files are loaded one by one: a package's own __init__ would load half of Hummingbot. What is stood in for: Cython's classes (the connector's base,
clock and events are compiled there), aiohttp by http.client, pydantic by models that have their fields, and by names alone whatever nothing here calls.
"""
import asyncio
import enum
import http.client
import importlib.abc
import importlib.util
import json
import logging
import pathlib
import sys
import time
import types
import urllib.parse
from decimal import Decimal

logging.Logger.network = lambda self, *_, **__: None


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
    """
    Sends what aiohttp would: a query as text, a body as JSON of Python's numbers. Of the next `to_lose` requests whose path has one of `losing` the
    connection breaks after a second.
    """

    sent = []
    to_lose = lost = 0
    losing = ("execute",)

    def __init__(self, connector=None):
        pass

    async def _send(self, method, url, params=None, json_body=None):
        parts = urllib.parse.urlsplit(url)
        target = (parts.path or "/") + ("?" + urllib.parse.urlencode(params) if params else "")
        body = None if json_body is None else json.dumps(json_body)
        ClientSession.sent.append((method, parts.path, body))
        is_lost = ClientSession.to_lose > 0 and method == "POST" and any(word in parts.path for word in ClientSession.losing)
        if is_lost:
            ClientSession.to_lose -= 1

        def call():
            line = http.client.HTTPConnection(parts.hostname, parts.port, timeout=300)
            try:
                line.request(method, target, body, {"Content-Type": "application/json"} if body else {})
                if is_lost:
                    time.sleep(1)
                    ClientSession.lost += 1
                    raise ConnectionResetError("Server disconnected")
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


class Named:
    def __init__(self, *_, **names):
        self.__dict__.update(names)


class AnyName(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return cls

    def __getitem__(cls, _):
        return cls

    def __call__(cls, *args, **names):
        # As a decorator it changes nothing.
        return args[0] if len(args) == 1 and callable(args[0]) and not names else super().__call__()


class Anything(metaclass=AnyName):
    """Whatever nothing here calls."""

    def __init_subclass__(cls, **_):
        pass


class AnyModule(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything


class NetworkStatus(enum.Enum):
    STOPPED, NOT_CONNECTED, CONNECTED = 0, 1, 2


class Settings:
    known = {}

    @classmethod
    def get_connector_settings(cls):
        return cls.known

    @classmethod
    def get_gateway_amm_connector_names(cls):
        return set(cls.known)


class Kind(enum.Enum):
    GATEWAY_DEX = "GATEWAY_DEX"


class ConnectorBase:
    """What their compiled base does of what their connector calls."""

    def __init__(self, balance_asset_limit=None):
        self._account_balances, self._account_available_balances = {}, {}
        self._in_flight_orders_snapshot, self._in_flight_orders_snapshot_timestamp = {}, 0.0
        self._trade_fee_schema = None
        self._listeners = {}
        self.events = []

    @property
    def current_timestamp(self):
        return time.time()

    def quantize_order_amount(self, trading_pair, amount):
        quantum = self.get_order_size_quantum(trading_pair, amount)
        return (amount // quantum) * quantum

    def quantize_order_price(self, trading_pair, price):
        quantum = self.get_order_price_quantum(trading_pair, price)
        return price if price.is_nan() else (price // quantum) * quantum

    def get_available_balance(self, name):
        return self._account_available_balances.get(name, Decimal(0))

    def get_balance(self, name):
        return self._account_balances.get(name, Decimal(0))

    def add_listener(self, tag, listener):
        self._listeners.setdefault(tag, []).append(listener)

    def remove_listener(self, tag, listener):
        self._listeners[tag].remove(listener)

    def trigger_event(self, tag, message):
        self.events.append((tag.name, message))
        for listener in list(self._listeners.get(tag, [])):
            listener(tag.value, self, message)


class EventForwarder:
    def __init__(self, to):
        self._to = to

    def __call__(self, tag, caller, message):
        self._to(tag, caller, message)


class Oracle:
    @classmethod
    def get_instance(cls):
        return cls()

    def get_pair_rate(self, _):
        return Decimal(1)


class Timeout:
    def __init__(self, seconds):
        self._seconds = seconds

    async def __aenter__(self):
        self._timer = asyncio.get_running_loop().call_later(self._seconds, asyncio.current_task().cancel)

    async def __aexit__(self, *_):
        self._timer.cancel()


class FieldOf:
    """What a model says of one of its fields."""

    def __init__(self, default=..., alias=None, **_):
        self.default, self.alias = default, alias


class Model:
    """Of pydantic: fields by their names or aliases, those that are lacking by their defaults, numbers from text. One without any is an error."""

    def __init__(self, **fields):
        self.__dict__.update(fields)
        for kind in reversed(type(self).__mro__):
            for name, form in kind.__dict__.get("__annotations__", {}).items():
                said = getattr(type(self), name, ...)
                default, alias = (said.default, said.alias) if isinstance(said, FieldOf) else (said, None)
                given = fields.get(alias, fields.get(name, default))
                if given is ...:
                    raise ValueError(f"{type(self).__name__} lacks {alias or name}")
                self.__dict__[name] = form(given) if form in (int, float) and given is not None else given

    def model_copy(self, update):
        copy = object.__new__(type(self))
        copy.__dict__.update({**self.__dict__, **update})
        return copy


def unchanged(*_, **__):
    return lambda call: call


def cached_for(ttl=3600, maxsize=10):
    """Their decorator, which needs numpy where it stands."""

    def decorate(call):
        known = {}

        async def cached(*args, **names):
            key = (args[1:], tuple(sorted(names.items())))
            at, value = known.get(key, (0.0, None))
            if time.monotonic() - at > ttl:
                value = await call(*args, **names)
                known[key] = (time.monotonic(), value)
            return value

        return cached

    return decorate


def namespace_keys(keys, tree, prefix=""):
    for name, value in tree.items():
        keys.append(prefix + name)
        if isinstance(value, dict):
            namespace_keys(keys, value, prefix + name + ".")


def split_pair(trading_pair):
    return tuple(trading_pair.split("-"))


class TTLCache(dict):
    def __init__(self, maxsize, ttl):
        super().__init__()


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Their files, by the names of `unmodified`; for all else of theirs, and what they need and is not here, stand-ins."""

    def __init__(self, folder, unmodified, stand_ins):
        self._folder, self._unmodified, self._stand_ins = pathlib.Path(folder), unmodified, stand_ins
        self.loaded = []

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in ("hummingbot", *{known.split(".")[0] for known in self._stand_ins}):
            return None
        if name in self._unmodified:
            place = self._folder / name.replace(".", "/")
            self.loaded.append(name)
            if place.is_dir():
                return importlib.util.spec_from_file_location(name, place / "__init__.py", submodule_search_locations=[])
            return importlib.util.spec_from_file_location(name, f"{place}.py")
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        made = AnyModule(spec.name)
        made.__dict__.update(self._stand_ins.get(spec.name, {}))
        return made

    def exec_module(self, module):
        pass


def load(folder, port, unmodified):
    """@returns the loader, and what their start-up writes: names of exchanges, chains and settings"""

    class Config:
        gateway_api_host, gateway_api_port, gateway_use_ssl = "localhost", port, False

    lists = {"dexs": [], "chains": [], "namespaces": []}
    stand_ins = {
        "aiohttp": dict(ContentTypeError=ContentTypeError, ClientSession=ClientSession, ClientTimeout=Named, TCPConnector=Named),
        "async_timeout": dict(timeout=Timeout),
        "cachetools": dict(TTLCache=TTLCache),
        "pydantic": dict(BaseModel=Model, Field=FieldOf, ConfigDict=dict, field_validator=unchanged, model_validator=unchanged),
        "base58": {},
        "controllers": {},
        "pandas": {},
        "pydantic_core": {},
        "hexbytes": {},
        "hummingbot.client.config.client_config_map": dict(GatewayConfigMap=Config),
        "hummingbot.client.config.config_data_types": dict(BaseClientModel=Model),
        "hummingbot.client.config.security": dict(Security=Named),
        "hummingbot.client.settings": dict(
            GATEWAY_CHAINS=lists["chains"],
            GATEWAY_DEXS=lists["dexs"],
            GATEWAY_ETH_DEXS=[],
            GATEWAY_NAMESPACES=lists["namespaces"],
            AllConnectorSettings=Settings,
            ConnectorSetting=Named,
            ConnectorType=Kind,
        ),
        "hummingbot.connector.budget_checker": dict(BudgetChecker=Named),
        "hummingbot.connector.connector_base": dict(ConnectorBase=ConnectorBase),
        "hummingbot.connector.utils": dict(split_hb_trading_pair=split_pair, combine_to_hb_trading_pair=lambda b, q: f"{b}-{q}"),
        "hummingbot.core.event.event_forwarder": dict(SourceInfoEventForwarder=EventForwarder),
        "hummingbot.core.network_iterator": dict(NetworkStatus=NetworkStatus),
        "hummingbot.core.rate_oracle.rate_oracle": dict(RateOracle=Oracle),
        "hummingbot.core.utils": dict(async_ttl_cache=cached_for),
        "hummingbot.core.utils.gateway_config_utils": dict(build_config_namespace_keys=namespace_keys),
        "hummingbot.logger": dict(HummingbotLogger=logging.Logger),
        "hummingbot.logger.logger": dict(HummingbotLogger=logging.Logger),
    }
    loader = Loader(folder, frozenset(unmodified), stand_ins)
    sys.meta_path.insert(0, loader)
    return loader, lists, Config
