"""Trees of ROOT files, which uproot reads, as data frames."""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from ._reading import row_numbers

_TREES = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple")
_FLAT = ("bool", "char", "float", "double", "std::byte", "std::string",
         *(f"std::{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)))
_NEEDED = "read_root needs {0}, which is not installed: pip install {0}"


def read_root(path: str | os.PathLike[str], tree: str | None = None, branches: Sequence[str] | None = None, *,
              rows: slice | None = None, n_jobs: int | None = None) -> Any:
    """Read a TTree or RNTuple of a ROOT file into a DataFrame, which `fit`, `predict` and `Session.put` take.

    uproot reads it (`pip install uproot pandas`), branch after branch, the baskets of each in parallel. Each entry is a
    row. Branches whose entries are lists (jagged ones) or arrays are refused by name: choose others, or reduce them with
    uproot first.

    Parameters
    ----------
    path : str or path
        Of a file, or a URL that uproot reads.
    tree : str or None
        Such as "events" or "folder/events"; None: the only one in the file.
    branches : list of str or None
        Which to read, in this order; None: all.
    rows : slice or None
        Such as slice(0, 1000); None: all.
    n_jobs : int or None
        Threads that decompress; None: as many as this process has processors.

    Raises
    ------
    ImportError, FileNotFoundError, ValueError
        The latter with the file and the trees or branches that there are, or that cannot be read.
    """
    if isinstance(branches, str):
        raise TypeError(f"branches is {branches!r}, allowed is a list")
    numbers = row_numbers(rows)
    uproot, pandas = _needed("uproot"), _needed("pandas")
    path = os.fspath(path)
    if "://" not in path:
        os.stat(path)  # FileNotFoundError, PermissionError
    n_threads = len(os.sched_getaffinity(0)) if n_jobs is None else max(n_jobs, 1)
    with ExitStack() as at_end:
        executor = uproot.ThreadPoolExecutor(n_threads)
        at_end.callback(executor.shutdown)
        with _in_one_line(path):
            file = at_end.enter_context(uproot.open({path: None}))
            trees = [name for name, kind in file.classnames(cycle=False).items() if kind in _TREES]
        place = _choose_tree(path, trees, tree)
        with _in_one_line(path):
            found = file[place]
            there = {name: _Branch.of(uproot, found[name]) for name in found.keys(recursive=False)}
        columns = {}
        for name in _choose_branches(path, there, branches):
            with _in_one_line(f"{path}: branch {name!r}"):
                columns[name] = _native(found[name].array(
                    entry_start=numbers.get("first_row"), entry_stop=numbers.get("last_row"), library="np",
                    decompression_executor=executor, interpretation_executor=executor))
    return pandas.DataFrame(columns, copy=False)


@dataclass(frozen=True)
class _Branch:
    kind: str
    is_flat: bool  # it has one value in each row

    @classmethod
    def of(cls, uproot: Any, branch: Any) -> _Branch:
        how = getattr(branch, "interpretation", None)
        if how is None:  # of an RNTuple
            return cls(branch.typename, branch.typename in _FLAT)
        dtype = getattr(how, "to_dtype", None)
        is_number = isinstance(how, uproot.AsDtype) and dtype is not None and dtype.kind in "biuf" and dtype.shape == ()
        return cls(branch.typename, is_number or isinstance(how, uproot.AsStrings))


def _needed(library: str) -> Any:
    try:
        return __import__(library)
    except ImportError:
        raise ImportError(_NEEDED.format(library)) from None


@contextmanager
def _in_one_line(what: str) -> Iterator[None]:
    """Damaged bytes raise all sorts of errors, of many lines, in uproot."""
    try:
        yield
    except (FileNotFoundError, PermissionError, MemoryError):
        raise
    except Exception as error:
        line = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ValueError(f"{what}: is not of ROOT, or is damaged: {line}") from error


def _choose_tree(path: str, trees: Sequence[str], wanted: str | None) -> str:
    if not trees:
        raise ValueError(f"{path}: has no tree")
    if wanted is None and len(trees) > 1:
        raise ValueError(f"{path}: has {len(trees)} trees, choose one with tree: {_shown(trees)}")
    if wanted is not None and wanted.partition(";")[0] not in trees:
        raise ValueError(f"{path}: has no tree {wanted!r}, allowed are {_shown(trees)}")
    return trees[0] if wanted is None else wanted


def _choose_branches(path: str, there: Mapping[str, _Branch], wanted: Sequence[str] | None) -> list[str]:
    """Which to read. Those that have other than one value in each row are refused."""
    names = list(there if wanted is None else wanted)
    if missing := [name for name in names if name not in there]:
        raise ValueError(f"{path}: has no branch {_shown(missing)}, allowed are {_shown(list(there))}")
    if len(set(names)) < len(names):
        raise ValueError(f"{path}: branches names one twice: {_shown(names)}")
    if not names:
        raise ValueError(f"{path}: no branch is chosen, allowed are {_shown(list(there))}")
    if others := [f"{name!r} ({there[name].kind})" for name in names if not there[name].is_flat]:
        flat = [name for name, branch in there.items() if branch.is_flat]
        raise ValueError(f"{path}: branches with other than one value in each row: {', '.join(others)}; choose with "
                         f"branches from {_shown(flat)}")
    return names


def _native(values: Any) -> Any:
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _shown(names: Sequence[str], most: int = 40) -> str:
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")
