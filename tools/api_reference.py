#!/usr/bin/env python3
"""Writes docs/api.md from the docstrings of the Python package: PYTHONPATH=build/release/python tools/api_reference.py"""
from __future__ import annotations

import inspect
import pathlib
from collections.abc import Iterator
from typing import Any

import podere
from podere import spark

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/api.md"
HEAD = """# Python API

All that `import podere` and `import podere.spark` offer, from the docstrings. `help(podere.GBTClassifier)` shows the same
in Python. To learn how the parts work together, read [python.md](python.md) first. `tools/api_reference.py` writes this
page.
"""


def signature(name: str, thing: Any) -> str:
    """Without types, which the docstring explains."""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return name
    parameters = inspect.signature(thing).parameters.values()
    bare = [p.replace(annotation=p.empty) for p in parameters if p.name != "self"]
    return name + str(inspect.Signature(bare))


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that Podere documents, those of its base classes too."""
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        is_own = inspect.isfunction(function) and function.__module__.startswith("podere")
        if not name.startswith("_") and is_own and inspect.getdoc(function):
            yield name, member


def entry(level: str, title: str, use: str, thing: Any) -> str:
    return f"\n{level} {title}\n```text\n{use}\n\n{inspect.getdoc(thing) or ''}\n```\n"


def public() -> Iterator[tuple[str, Any]]:
    """What there is to call, by the names that users write after `podere.`."""
    for name in sorted(podere.__all__):
        if callable(getattr(podere, name)):
            yield name, getattr(podere, name)
    for name in sorted(spark.__all__):
        yield f"spark.{name}", getattr(spark, name)


def reference() -> str:
    text = HEAD
    for name, thing in public():
        text += entry("##", name, signature(name, thing), thing)
        for member_name, member in members(thing) if inspect.isclass(thing) else ():
            title = f"{name}.{member_name}"
            if isinstance(member, property):
                text += entry("###", title, title, member)
            else:
                method = getattr(thing, member_name)
                text += entry("###", title, signature(member_name, method), method)
    return text


if __name__ == "__main__":
    PAGE.write_text(reference())
