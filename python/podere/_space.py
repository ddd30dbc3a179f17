"""Spaces of parameters as Python has them, and as the search below reads them: as TOML."""
from __future__ import annotations

import json
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

_FORMS = "(low, high), (low, high, 'log'), a list of values, a value, or a dict"
_Domains = dict[str, Any]  # of the search's parameters, of what TOML has


class Encoding:
    """What the search calls parameters and their values. This one is for estimators and functions of any kind: the
    search knows numbers, texts, True and False as they are, and other values by their repr."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], Any] = {}

    def name(self, name: str) -> str:
        return name

    def value(self, name: str, value: Any) -> Any:
        known = value.item() if isinstance(value, np.generic) else value
        if not isinstance(known, (bool, int, float, str)):
            known = repr(value)
        self._values[name, json.dumps(known)] = value
        return known

    def params(self, setting: Mapping[str, Any]) -> dict[str, Any]:
        """Those of a setting that the search chose."""
        return {name: self._values.get((name, json.dumps(known)), known) for name, known in setting.items()}


def domains_of(space: Any, encoding: Encoding) -> _Domains:
    """What a search may choose. Whether it can be, the search says."""
    if not isinstance(space, Mapping):
        raise TypeError(f"space is {space!r}, allowed is a dict of parameters")
    if not space:
        raise ValueError("space is empty, allowed is a dict of parameters")
    for name in space:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"space names {name!r}, which is no name of a parameter")
    return {encoding.name(name): _domain(name, given, encoding) for name, given in space.items()}


def _domain(name: str, given: Any, encoding: Encoding) -> Any:
    if isinstance(given, tuple):
        return _range(name, given)
    if isinstance(given, (list, np.ndarray)):
        return _values(name, given, encoding)
    if isinstance(given, Mapping):
        return {key: _member(name, key, value, encoding) for key, value in given.items()}
    if given is None or isinstance(given, (bool, int, float, str, np.generic)):
        return encoding.value(name, given)
    raise TypeError(f"space of {name} is {given!r}, allowed are {_FORMS}")


def _range(name: str, given: tuple[Any, ...]) -> _Domains:
    are_numbers = all(isinstance(bound, Real) and not isinstance(bound, bool) for bound in given[:2])
    if not are_numbers or len(given) not in (2, 3) or given[2:] not in ((), ("log",)):
        raise ValueError(f"space of {name} is {given!r}, allowed are {_FORMS}")
    return {"low": given[0], "high": given[1], "log": len(given) == 3}


def _values(name: str, given: Any, encoding: Encoding) -> list[Any]:
    return [encoding.value(name, value) for value in given]


def _member(name: str, key: Any, value: Any, encoding: Encoding) -> Any:
    """Of a dict."""
    if key == "choices" and isinstance(value, (list, tuple)):
        return _values(name, value, encoding)
    if key == "value":
        return encoding.value(name, value)
    if key == "when" and isinstance(value, Mapping):
        return {encoding.name(parent): _values(parent, values if isinstance(values, list) else [values], encoding)
                for parent, values in value.items()}
    return value


def to_toml(domains: _Domains) -> str:
    return "".join(f"{_toml(name)} = {_toml(value)}\n" for name, value in domains.items())


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(str(name))} = {_toml(of)}" for name, of in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if not isinstance(value, (bool, int, float)):
        raise TypeError(f"space has {value!r}, allowed are numbers, texts, True and False")
    return repr(value) if isinstance(value, float) else json.dumps(value)
