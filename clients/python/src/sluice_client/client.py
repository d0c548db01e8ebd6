"""The client: endpoints, transactions and events."""
from __future__ import annotations

import json
import re
import time
from collections.abc import Generator, Mapping
from http.client import HTTPException
from threading import Event as Flag
from types import TracebackType
from typing import Any, Literal

from .endpoints import EVENTS, Endpoints, Event, EventsRequest, NetworkPollResponse, TransactionsLine, TransactionsRequest
from .errors import NoAnswerError, RefusedError
from .transport import Transport, is_passing

_FIRST_POLL, _LONGEST_POLL = 0.15, 1.0
# The server says at least every 15 s that a stream is alive.
_SILENCE = 45.0
_STREAM_PAUSE = 0.5
# The server cuts off who takes nothing for a minute.
_EXPORT_SILENCE = 90.0
_ASK = 5.0
_FIELD = re.compile(r"(\w+): ?(.*)")


class SluiceClient(Endpoints):
    """
    Requests are repeated until there is an answer: a request that acts has an idempotency key, so that it is done once however often it is
    sent. Amounts and prices are str, int or Decimal. One client serves all threads. Times are seconds.

    `url` of the server; `certs`, the folder with ca_cert.pem and the certificate and key of the client; `name` of the certificate: "client" is
    client_cert.pem and client_key.pem; `passphrase` of the key, if it has one; `timeout`, how long a request is repeated without an answer.

    All methods raise RefusedError for what the server refuses, NoAnswerError where no answer came within the time, CertificateError and
    InterfaceVersionError, which are SluiceErrors, and TypeError for a float.
    """

    def __init__(
        self,
        url: str = "https://localhost:15888",
        *,
        certs: str = "certs",
        name: str = "client",
        passphrase: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        self._transport = Transport(url, certs, name, passphrase, timeout)
        self._closed = Flag()

    def _call(self, method: str, path: str, request: Mapping[str, object] | None, key: str | None, timeout: float | None) -> Any:
        return self._transport.call(method, path, request, key, timeout)

    def wait_for(self, tx_hash: str, *, chain: str, network: str, timeout: float = 300.0) -> NetworkPollResponse:
        """
        Waits until a transaction is over, through restarts of the server and under every hash that higher fees give it. Look at `txState`:
        only CONFIRMED has a `fill`.
        """
        end = time.monotonic() + timeout
        pause = _FIRST_POLL
        while True:
            left = max(0.001, end - time.monotonic())
            poll = self.get("/network/poll", {"chain": chain, "network": network, "txHash": tx_hash}, timeout=left)
            state = poll.get("txState")
            replaced_by = poll.get("replacedBy")
            if state == "REPLACED" and replaced_by is not None:
                tx_hash = replaced_by
            elif poll.get("final"):
                return poll
            elif state is None and poll["txStatus"] == -1:
                raise RefusedError(
                    f"{tx_hash} is no transaction of this server, and no node of {chain}/{network} knows it.",
                    name="UNKNOWN_TRANSACTION",
                    code=1020,
                    status=404,
                )
            elif time.monotonic() + pause >= end:
                raise NoAnswerError(f"{tx_hash} is not over after {timeout:g} s: it is {state or 'pending'}. Wait for it again.")
            else:
                time.sleep(pause)
                pause = min(_LONGEST_POLL, pause * 1.5)

    def events(self, request: EventsRequest | None = None, *, last_event_id: str | None = None) -> Generator[Event, None, None]:
        """
        Events without end. After a cut they go on after the last one: no change of a transaction is missing or comes twice. `ready` comes
        first on each connection. They end when the client is closed, by any thread, or the generator is.
        """
        asked: EventsRequest = {} if request is None else request
        is_first = True
        while not self._closed.is_set():
            try:
                # It tells a server that is away from one that refuses the certificate by now.
                if not is_first:
                    self._transport.call("GET", "/", None, timeout=_ASK)
                is_first = False
                for event in self._stream(asked, last_event_id):
                    last_event_id = event.id
                    yield event
            except (RefusedError, NoAnswerError) as error:
                if not is_passing(error):
                    raise
            except (OSError, HTTPException):
                # The connection ended. What no other connection can change is a SluiceError.
                pass
            self._closed.wait(_STREAM_PAUSE)

    def _stream(self, request: EventsRequest, last: str | None) -> Generator[Event, None, None]:
        headers = {} if last is None else {"Last-Event-ID": last}
        with self._transport.stream("/events", request, headers, _SILENCE) as response:
            fields: dict[str, str] = {}
            for line in iter(response.readline, b""):
                text = line.decode().rstrip("\r\n")
                field = _FIELD.fullmatch(text)
                if field is not None:
                    fields[field[1]] = field[2]
                elif text == "":
                    topic, event_id, data = (fields.get(each) for each in ("event", "id", "data"))
                    fields = {}
                    if topic is not None and topic in EVENTS and event_id is not None and data is not None:
                        yield EVENTS[topic](topic, event_id, json.loads(data))

    def export_transactions(
        self, request: TransactionsRequest | None = None, *, timeout: float | None = None
    ) -> Generator[TransactionsLine, None, None]:
        """
        All transactions that match, newest first, archived ones too, as fast as they are taken. After a cut it goes on after the last one; where
        none comes for `timeout` it raises NoAnswerError. What has `unavailable` in place of a transaction is damaged in the server's store.
        """
        asked: TransactionsRequest = {} if request is None else request.copy()
        seconds = self._transport.timeout if timeout is None else timeout
        end = time.monotonic() + seconds
        while True:
            failure: Exception
            try:
                for line in self._lines(asked):
                    asked["cursor"] = line["id"]
                    limit = asked.get("limit")
                    if limit is not None:
                        asked["limit"] = limit - 1
                    yield line
                    end = time.monotonic() + seconds
                    if limit == 1:
                        return
                return
            except (RefusedError, NoAnswerError) as error:
                if not is_passing(error):
                    raise
                failure = error
            except (OSError, HTTPException) as error:
                failure = error
            if self._closed.is_set() or time.monotonic() + _STREAM_PAUSE >= end:
                message = f"No further transaction came within {seconds:g} s: {failure}. Go on with the id of the last one as cursor."
                raise NoAnswerError(message) from failure
            self._closed.wait(_STREAM_PAUSE)

    def _lines(self, request: TransactionsRequest) -> Generator[TransactionsLine, None, None]:
        with self._transport.stream("/transactions", request, {"Accept": "application/x-ndjson"}, _EXPORT_SILENCE) as response:
            rest = b""
            # Where the answer is not whole it raises IncompleteRead.
            for chunk in iter(lambda: response.read1(65536), b""):
                *lines, rest = (rest + chunk).split(b"\n")
                for text in lines:
                    line: TransactionsLine = json.loads(text)
                    yield line

    def close(self) -> None:
        """Ends idle connections, and the streams of all threads. The client can be used no more for events."""
        self._closed.set()
        self._transport.close()

    def __enter__(self) -> SluiceClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> Literal[False]:
        self.close()
        return False
