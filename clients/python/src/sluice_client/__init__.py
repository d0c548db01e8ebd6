"""The client for bots: every endpoint with its types, over mutual TLS."""
from .client import SluiceClient
from .endpoints import INTERFACE_VERSION, Amount, Event, TransactionsLine
from .errors import CertificateError, InterfaceVersionError, NoAnswerError, RefusedError, SluiceError

__all__ = [
    "INTERFACE_VERSION",
    "Amount",
    "CertificateError",
    "Event",
    "InterfaceVersionError",
    "NoAnswerError",
    "RefusedError",
    "SluiceClient",
    "SluiceError",
    "TransactionsLine",
]
