"""What a client raises. Every error has the `name` and `code` of the server's table, or a name of its own."""
from __future__ import annotations


class SluiceError(Exception):
    """`name` says what happened; `code`, `status` and `details` are the server's, if it answered."""

    def __init__(
        self,
        message: str,
        *,
        name: str,
        code: int | None = None,
        status: int | None = None,
        details: object = None,
        request_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.name = name
        self.code = code
        # Of HTTP.
        self.status = status
        # What is wrong in detail, e.g. {"token": …, "current": …, "needed": …}.
        self.details = details
        # Under which the server's log has it.
        self.request_id = request_id
        # Of a request that may have been done: it is not done twice with this key.
        self.idempotency_key = idempotency_key


class RefusedError(SluiceError):
    """The server's answer to a request that it refused: nothing is under way. docs/bots/errors.md lists names and codes."""


class NoAnswerError(SluiceError):
    """
    There was no answer within the time. A request that acts may have been done: send the same request again with its key, and it is done
    once at most, however often it is sent.
    """

    def __init__(self, message: str, *, idempotency_key: str | None = None) -> None:
        super().__init__(message, name="NO_ANSWER", idempotency_key=idempotency_key)


class CertificateError(SluiceError):
    """The server refuses this certificate, or this client the server's. To try again with the same one changes nothing."""

    def __init__(self, message: str, *, idempotency_key: str | None = None) -> None:
        super().__init__(message, name="CERTIFICATE", idempotency_key=idempotency_key)


class InterfaceVersionError(SluiceError):
    """The server has another major version of the interface than this client was made for."""

    def __init__(self, message: str) -> None:
        super().__init__(message, name="INTERFACE_VERSION")
