"""The fields of a request as they are sent."""
from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from urllib.parse import urlencode

# A JSON number above it may be read as another one.
_LARGEST_NUMBER = 2**53 - 1


def sendable(fields: Mapping[str, object] | None) -> dict[str, object]:
    """Without those that are None. Raises TypeError for what is not exact: 0.1 + 0.2 is not 0.3 as a float."""
    return {name: _value(value, name) for name, value in (fields or {}).items() if value is not None}


def query(fields: Mapping[str, object]) -> str:
    """Lists are split at commas."""
    return f"?{urlencode({name: _text(value) for name, value in fields.items()})}" if fields else ""


def _value(value: object, at: str) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        # Of a member of an Enum, its text and not its name.
        return str.__str__(value)
    if isinstance(value, int):
        return int(value) if abs(value) <= _LARGEST_NUMBER else str(int(value))
    if isinstance(value, float):
        text = float.__repr__(value)
        raise TypeError(f'{at}: {text} is a float. Give amounts and prices as str or Decimal, such as "{text}".')
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{at}: {value} is no amount.")
        return f"{value:f}"
    if isinstance(value, Mapping):
        return {str(name): _value(each, f"{at}.{name}") for name, each in value.items() if each is not None}
    if isinstance(value, (list, tuple)):
        return [_value(each, f"{at}[{index}]") for index, each in enumerate(value)]
    raise TypeError(f"{at}: a {type(value).__name__} cannot be sent. Give amounts and prices as str, int or Decimal.")


def _text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(_text(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
