"""Requests over mutual TLS, repeated until there is an answer."""
from __future__ import annotations

import json
import os
import random
import socket
import ssl
import time
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

from .endpoints import INTERFACE_VERSION
from .errors import CertificateError, InterfaceVersionError, NoAnswerError, RefusedError, SluiceError
from .fields import query, sendable

_VERSION_HEADER = "Sluice-Api-Version"
# Of one try, which the server ends after `server.requestTimeoutSeconds`, 30 by default.
_TRY_SECONDS = 60.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
# A server that dies ends one or two connections so.
_MAX_HANDSHAKES = 4
# The server does nothing of it, or has not done it yet: to be sent again. Other statuses are answers.
_NO_ANSWER = (429, 503, 504)


class _EndedAfterHandshake(Exception):
    pass


class _Cut(Exception):
    """A connection that had been idle ended: the next is tried at once."""


class Transport:
    """Any number of threads may call it: each takes an idle connection, or makes one."""

    def __init__(self, url: str, certs: str, name: str, passphrase: str | None, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme != "https" or parts.hostname is None:
            raise ValueError(f"{url} is no address of Sluice, which speaks https only.")
        self._host, self._port = parts.hostname, parts.port or 443
        self.timeout = timeout
        files = [os.path.join(certs, file) for file in ("ca_cert.pem", f"{name}_cert.pem", f"{name}_key.pem")]
        # The errors of ssl do not name the file that is missing.
        for file in files:
            with open(file, "rb"):
                pass
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._tls.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            self._tls.load_verify_locations(files[0])
            # Without a passphrase OpenSSL would ask for one on the terminal.
            self._tls.load_cert_chain(files[1], files[2], passphrase or "")
        except ssl.SSLError as error:
            raise CertificateError(f"{', '.join(files)}: the certificate or its key cannot be used ({error}). Is the passphrase right?") from error
        self._idle: deque[HTTPSConnection] = deque()
        self._streams: set[socket.socket] = set()
        self._process = os.getpid()
        self._is_compatible = False
        self._refusal: str | None = None

    def call(
        self,
        method: str,
        path: str,
        request: Mapping[str, object] | None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> object:
        """The parsed body of an answer with the status 200."""
        fields = sendable(request)
        seconds = self.timeout if timeout is None else timeout
        self._check_version(seconds)
        if method == "GET":
            return self._until_answered(method, f"{path}{query(fields)}", None, None, seconds)
        return self._until_answered(method, path, json.dumps(fields).encode(), str(uuid.uuid4()) if key is None else key, seconds)

    @contextmanager
    def stream(self, path: str, request: Mapping[str, object], headers: Mapping[str, str], silence: float) -> Iterator[HTTPResponse]:
        """One try at an answer without end. Errors of the connection are raised as they are."""
        target = f"{path}{query(sendable(request))}"
        self._check_version(self.timeout)
        self._leave_after_fork()
        connection = self._new(silence)
        sock: socket.socket | None = None
        response: HTTPResponse | None = None
        try:
            connection.connect()
            # The connection forgets it once there is an answer, which has no length.
            sock = connection.sock
            self._streams.add(sock)
            connection.request("GET", target, headers=dict(headers))
            response = connection.getresponse()
            self._note_version(response)
            if response.status != 200:
                raise _refused_by(response.status, _parsed(response.read()))
            yield response
        except (OSError, HTTPException) as error:
            refused = _certificate_error(error, None)
            if refused is not None:
                raise refused from error
            raise
        finally:
            if sock is not None:
                self._streams.discard(sock)
            if response is not None:
                response.close()
            connection.close()

    def close(self) -> None:
        """Ends idle connections, and streams that other threads wait for."""
        while (connection := self._take()) is not None:
            connection.close()
        for sock in list(self._streams):
            try:
                # As of a plain socket: the other thread still reads by TLS.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
            except OSError:
                pass

    def _new(self, seconds: float) -> HTTPSConnection:
        return HTTPSConnection(self._host, self._port, timeout=seconds, context=self._tls)

    def _leave_after_fork(self) -> None:
        """Both processes have these connections then: one would read the other's answers, or end its streams."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._idle, self._streams = deque(), set()

    def _take(self) -> HTTPSConnection | None:
        self._leave_after_fork()
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _once(self, method: str, target: str, body: bytes | None, headers: dict[str, str], seconds: float) -> tuple[int, object, str | None]:
        """One try. Raises the connection's error."""
        idle = self._take()
        connection = idle or self._new(seconds)
        is_ready = False
        try:
            if idle is None:
                connection.connect()
            elif connection.sock is not None:
                connection.sock.settimeout(seconds)
            is_ready = True
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            text = response.read()
        except BaseException as error:
            connection.close()
            if not is_ready or not _is_end(error):
                raise
            if idle is not None:
                raise _Cut(str(error)) from error
            # The server ends the connection of a client whose certificate it refuses after the handshake, and says nothing.
            raise _EndedAfterHandshake(str(error)) from error
        self._note_version(response)
        if response.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        return response.status, _parsed(text), response.headers.get("Retry-After")

    def _until_answered(self, method: str, target: str, body: bytes | None, key: str | None, timeout: float) -> object:
        headers = {} if body is None else {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        end = time.monotonic() + timeout
        pause, handshakes = _FIRST_PAUSE, 0
        last: BaseException
        while True:
            wait = pause * random.uniform(0.5, 1)
            left = min(_TRY_SECONDS, end - time.monotonic())
            try:
                status, answer, retry_after = self._once(method, target, body, headers, max(left, 0.001))
            except _Cut as error:
                last, wait, handshakes = error, 0, 0
            except _EndedAfterHandshake as error:
                last, handshakes = error, handshakes + 1
                if handshakes == _MAX_HANDSHAKES:
                    raise _certificate_refused(key) from error
            except (OSError, HTTPException) as error:
                refused = _certificate_error(error, key)
                if refused is not None:
                    raise refused from error
                last, handshakes = error, 0
            else:
                handshakes = 0
                if status == 200 and answer is not None:
                    return answer
                refusal = _refused_by(status, answer)
                if not is_passing(refusal):
                    raise refusal
                last, wait = refusal, max(wait, _seconds(retry_after))
            if time.monotonic() + wait >= end:
                asked = target.split("?")[0]
                message = f"{self._host}:{self._port} did not answer {method} {asked} within {timeout:g} s: {last}.{_may_be_done(key)}"
                raise NoAnswerError(message, idempotency_key=key) from last
            if wait > 0:
                time.sleep(wait)
                pause = min(_LONGEST_PAUSE, pause * 2)

    def _check_version(self, timeout: float) -> None:
        """Before the first request: what it does must not be done by a server that means something else by it."""
        if not self._is_compatible and self._refusal is None:
            try:
                self._until_answered("GET", "/", None, None, timeout)
                self._is_compatible = True
            except RefusedError:
                # Another version may not have this endpoint.
                if self._refusal is None:
                    raise
        if self._refusal is not None:
            raise InterfaceVersionError(self._refusal)

    def _note_version(self, response: HTTPResponse) -> None:
        # A server that does not say is of 1.x.
        served = response.headers.get(_VERSION_HEADER, INTERFACE_VERSION)
        if served.split(".")[0] != INTERFACE_VERSION.split(".")[0]:
            self._refusal = (
                f"The server has the interface {served}, and this client is for {INTERFACE_VERSION}: use the client of the server's release."
            )


def is_passing(error: SluiceError) -> bool:
    """Whether to send the same again may help."""
    if isinstance(error, RefusedError):
        return error.status in _NO_ANSWER or error.name == "IN_FLIGHT"
    return isinstance(error, NoAnswerError)


def _is_end(error: BaseException) -> bool:
    return isinstance(error, (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError))


def _seconds(retry_after: str | None) -> float:
    try:
        return float(retry_after or 0)
    except ValueError:
        return 0


def _parsed(text: bytes) -> object:
    """None where it is no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _refused_by(status: int, answer: object) -> RefusedError:
    fields = answer if isinstance(answer, dict) else {}
    name, message, code, request_id = (fields.get(each) for each in ("name", "message", "errorCode", "requestId"))
    return RefusedError(
        message if isinstance(message, str) else f"The answer has the status {status} and no text of Sluice.",
        name=name if isinstance(name, str) else "UNKNOWN_ERROR",
        code=code if isinstance(code, int) else 1099,
        status=status,
        details=fields.get("details"),
        request_id=request_id if isinstance(request_id, str) else None,
    )


def _may_be_done(key: str | None) -> str:
    if key is None:
        return ""
    return f" It may have been done: send the same request again with the idempotency key {key}, and it is done once at most."


def _certificate_refused(key: str | None) -> CertificateError:
    return CertificateError(
        "The server ends every connection after the handshake: this client's certificate was revoked or has expired. Ask the operator for a"
        f" new one (sluice certs renew).{_may_be_done(key)}",
        idempotency_key=key,
    )


def _certificate_error(error: BaseException, key: str | None) -> CertificateError | None:
    """None where the error is none of certificates. The reasons are those of OpenSSL's alerts."""
    if isinstance(error, ssl.SSLCertVerificationError):
        text = f"The server's certificate cannot be checked with ca_cert.pem ({error.verify_message})."
        return CertificateError(f"{text}{_may_be_done(key)}", idempotency_key=key)
    if not isinstance(error, ssl.SSLError):
        return None
    reason = error.reason or ""
    if "ALERT" not in reason or not any(each in reason for each in ("CERTIFICATE", "UNKNOWN_CA", "ACCESS_DENIED")):
        return None
    return CertificateError(
        f"The server refuses this client's certificate ({reason}): it was revoked, has expired, or is of another CA. Ask the operator for a new"
        f" one (sluice certs renew).{_may_be_done(key)}",
        idempotency_key=key,
    )
