"""Executors that stay, for a script or a notebook."""
from __future__ import annotations

import html
import json
import os
import re
import secrets
import weakref
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._batches import put_batches
from ._connection import Connection
from ._estimator import Estimator, evaluate_on_table, fit_on_table
from ._jobs import JobRunner
from ._matrices import QR, Covariance, Keep, covariance_on_executors, matrix_source, qr_on_executors
from ._models import Run
from ._parameters import absolute, flag, real, whole
from ._progress import make_progress, page_link, show_panel
from ._reading import columns_of_pandas, csv_source, images_location, location_source, n_skipped, put_arrays, read_as
from ._root import read_root
from ._stored_table import Facts, Origin, StoredTable
from ._svd import SVD, svd_fields, svd_on_executors
from ._table import Table, table_of
from ._tune import Tuned, tune_on_table


def _executors_text(executors: Any) -> str:
    if isinstance(executors, Integral) and not isinstance(executors, bool) and int(executors) >= 1:
        return str(int(executors))
    if isinstance(executors, str) and re.fullmatch("[0-9]+(:[0-9]+)?", executors):
        return executors
    raise ValueError(f"executors is {executors!r}, allowed is a number from 1, or '2:8' for 8, or what is left down to "
                     "2")


def _address_text(name: str, address: Any) -> str:
    if isinstance(address, bool) or not isinstance(address, (Integral, str)):
        raise TypeError(f"{name} is {address!r}, allowed are a port and 'ADDRESS:PORT'")
    return str(address)


def _count(name: str, value: Any) -> int:
    return whole(name, value, 1, 2**31 - 1)


_SHOWN_KINDS = ("train", "evaluate", "explain", "predict", "classify")


class Session:
    """Executors of this process: they keep tables, train on them, and end with it.

    >>> import podere
    >>> with podere.Session(executors=2, cores=1, progress=False) as s:
    ...     train, test = s.read("collider:2e4").split(0.9, seed=7)
    ...     model = s.fit(podere.GBTClassifier(n_estimators=20, max_depth=5), train)
    ...     model.evaluate(test)["auc"] > 0.7
    True

    Executors that are lost are made up for, with their tables; the model is the same, byte for byte. Ctrl-C (and the
    interrupt of a notebook) cancels the job that runs and keeps the session. A session that is not closed ends with the
    process, even if that is killed.

    Parameters
    ----------
    executors : int or str, default=1
        How many; "2:8" wants 8 and continues with those left, down to 2.
    cores : int or None, default=None
        Threads of each; None shares this machine's out.
    name : str or None, default=None
        By which others find it: `podere session attach NAME`, `Session.connect(name)`. None makes one up.
    farm : str or None, default=None
        On Kubernetes, in whose pods they run: "astro", or "NAMESPACE/astro". Pods that come and go are executors that
        do. None starts them on this machine.
    progress : bool, default=True
        Show progress: a line in a terminal, a bar in a notebook, losses as lines on standard error.
    page : bool, int or str, default=True
        Serve a page that shows what the session does, at the first free port from 8650, at this port or "ADDRESS:PORT".
        `s.page` is the link; notebooks show it.
    report : bool, default=False
        Keep what reports show of a model besides curves and costs: ROC, scores, histograms of columns. Each training
        then predicts its rows once more. For `s.report` and the page.
    prometheus : int, str or None, default=None
        A port of 127.0.0.1 (0: any that is free), or "ADDRESS:PORT" of this machine, where Prometheus scrapes what
        jobs cost. `s.prometheus` is the URL.

    Raises
    ------
    ValueError
        For what cannot be: no such number of executors, a name that is in use.
    SessionError
        Where executors do not start.
    """

    def __init__(self, executors: int | str = 1, cores: int | None = None, name: str | None = None, *,
                 farm: str | None = None, progress: bool = True, page: bool | int | str = True,
                 report: bool = False, prometheus: int | str | None = None) -> None:
        options = ["--executors", _executors_text(executors)]
        if cores is not None:
            options += ["--cores", str(_count("cores", cores))]
        if prometheus is not None:
            options += ["--prometheus", _address_text("prometheus", prometheus)]
        if page is False:
            options.append("--no-page")
        elif page is not True:
            options.append("--page=" + _address_text("page", page))
        if farm is not None:
            options += ["--on", "kubernetes", "--farm", _farm_name(farm)]
        name = f"python-{os.getpid()}-{secrets.token_hex(3)}" if name is None else _session_name(name)
        self._attach(name, options, progress, report)

    @classmethod
    def connect(cls, name: str, *, progress: bool = True, report: bool = False) -> Session:
        """Join a session that there is, of `podere session start NAME` or another process.

        It stays when this process leaves; `shutdown()` ends it.
        """
        session = cls.__new__(cls)
        session._attach(_session_name(name), None, progress, report)
        return session

    def _attach(self, name: str, start: list[str] | None, progress: bool, report: bool) -> None:
        shown = make_progress(bool(progress))
        if start is not None:
            n = start[1].split(":")[-1]
            shown.show(f"starting {n} executor{'' if n == '1' else 's'}")
        try:
            self._connection = Connection(name, start, shown)
        finally:
            shown.clear()
        self._jobs = JobRunner(self._connection, bool(progress), bool(report))
        self._finalizer = weakref.finalize(self, self._connection.close)
        if progress and start is not None:
            show_panel(self._repr_html_(), repr(self))

    # What is there

    @property
    def name(self) -> str:
        """What it is called."""
        return self._connection.name

    @property
    def status(self) -> dict[str, Any]:
        """What there is: "session", "process" (of the driver), "executors", "cores", "tables", "jobs"."""
        return {**self._jobs.status}

    @property
    def executors(self) -> int:
        """How many there are."""
        return self._jobs.status["executors"]

    @property
    def cores(self) -> int:
        """Threads of each executor."""
        return self._jobs.status["cores"]

    @property
    def page(self) -> str | None:
        """The link to a page that shows what the session does now, with its token; None if there is no page."""
        return self._jobs.page

    @property
    def prometheus(self) -> str | None:
        """Where Prometheus finds what jobs cost; None if it was not asked for."""
        return self._jobs.status["prometheus"]

    @property
    def tables(self) -> dict[str, Table]:
        """All tables that the session keeps, by name, those of others too. To have one here does not keep it there."""
        return {facts["name"]: self._table(facts, Origin(), is_temporary=False) for facts in self._jobs.status["tables"]}

    # Tables

    def read_csv(self, path: str | os.PathLike[str], label: str | int | None = None, weight: str | int | None = None,
                 columns: Sequence[str | int] | None = None, categorical: Sequence[str | int] | str | None = None,
                 header: bool | None = None, delimiter: str | None = None, missing: Sequence[str] | None = None,
                 rows: slice | None = None, name: str | None = None,
                 drop: Sequence[str | int] | None = None, comment: str | None = None, decimal: str | None = None,
                 day_first: bool | None = None, date_parts: bool = False,
                 usecols: Sequence[str | int] | None = None, dtype: Any = None,
                 names: Sequence[str] | None = None, drop_unlabeled: bool = False,
                 skiprows: int | None = None) -> Table:
        """Read a file of delimited text, plain or packed, into the executors' memory.

        Columns of dates, booleans, percentages and other forms of numbers are found out, see `Table.read_as`.

        Parameters
        ----------
        path : path
            Executors read it themselves: all must see it.
        label, weight : str, int or None
            Columns, by name or by position from 0; None: there is none.
        columns : list or None
            Features to keep, in this order; None: all but label and weight.
        categorical : list, "auto" or None
            Features whose fields are texts. "auto": all of few different texts, and others are left out.
        header : bool or None
            Whether the first line holds names; None finds out, see `Table.first_line`, and refuses what is in doubt.
        delimiter : str or None
            One character; None finds out.
        missing : list of str or None
            Fields that mean missing values; None: empty ones, NA, NaN and the like.
        rows : slice or None
            Such as slice(0, 1000); None: all.
        name : str or None
            Of the table; one without a name is dropped when the last reference to it goes.
        drop : list or None
            Columns to leave out, by name or by position; not with `columns`.
        comment : str or None
            What begins a comment, such as "#"; None: nothing does.
        decimal : ".", "," or None
            What separates whole numbers from fractions; None finds out by column, and refuses what is in doubt.
        day_first : bool or None
            Whether 01/02/2026 is in February; None finds out by column, and refuses what is in doubt.
        date_parts : bool
            Whether dates have their parts as features too: when.year, when.month, when.day, when.weekday, when.hour.
        usecols : list or None
            `columns` by the name that pandas has for it; may also hold label and weight. The features have this order.
        dtype : dict or type or None
            As in pandas: columns of "category" are those of `categorical`. Types of numbers are accepted and change
            nothing: all numbers become float32. Others are refused.
        names : list of str or None
            Of all columns, as in pandas, for a file without a line of names; where the first line has some, these replace
            them. If `header` is None and the first line leaves doubt, it is a row.
        drop_unlabeled : bool
            Whether rows whose label is missing are left out; they are refused where the label is needed.
        skiprows : int or None
            How many lines to leave out at the begin of the file, such as a title above the table; None: none.

        Raises
        ------
        FileNotFoundError, ValueError
            The latter with file, line and column; of texts among numbers it names all columns that hold any.
        """
        columns, categorical = columns_of_pandas(columns, categorical, usecols, dtype, (label, weight))
        finds_categories = categorical == "auto"
        source = csv_source(path, rows=rows, columns={"label": label, "weight": weight},
                            lists={"columns": columns, "drop": drop, "missing": missing, "names": names,
                                   "categorical": None if finds_categories else categorical},
                            choices={"header": header, "delimiter": delimiter, "comment": comment, "decimal": decimal,
                                     "day_first": day_first, "date_parts": date_parts or None,
                                     "skip": n_skipped(skiprows), "drop_unlabeled": drop_unlabeled or None,
                                     "finds_categories": finds_categories or None})
        return self._load(source, name)

    def read(self, location: str | os.PathLike[str], label: str | int | None = None, *, format: str | None = None,
             weight: str | int | None = None, columns: Sequence[str | int] | None = None,
             drop: Sequence[str | int] | None = None, categorical: Sequence[str | int] | str | None = None,
             missing: Sequence[str] | None = None, date_parts: bool = False, drop_unlabeled: bool = False,
             labels: str | os.PathLike[str] | None = None, key: str | None = None, n_features: int | None = None,
             zero_based: bool = False, raw_type: Any = None, raw_columns: int | None = None, skip_bytes: int = 0,
             rows: slice | None = None, name: str | None = None) -> Table:
        """Read a file that says itself what is in it, or "collider:1e6?seed=3", simulated events made by the executors.

        Files are Parquet, Arrow (Feather), HDF5, of NumPy, IDX, which MNIST has, or libsvm (SVMlight). Of raw numbers you say it:
        `format="raw"`. A folder or a pattern such as "runs/*.parquet" is all its files, one after another, with the columns that folders named `name=value` give
        them. `read_csv` knows more of delimited text. The label of IDX and libsvm files, and of a .npy file with
        `labels`, is called "label".

        Parameters
        ----------
        location : str or path
            Executors read files themselves: all must see them.
        label, weight : str, int or None
            Columns of a file of columns, by name or by position from 0; None: there is none.
        format : "csv", "parquet", "arrow", "hdf5", "idx", "npy", "npz", "libsvm", "raw" or None
            None finds out: Parquet, Arrow (Feather), HDF5, IDX and files of NumPy by the first bytes, libsvm by the names
            .libsvm, .svm and .svmlight, with or without .gz.
        columns : list or None
            Features to keep, in this order; None: all. "pixel1", ... of images, "f1", ... of libsvm files.
        drop : list or None
            Columns to leave out, such as lists and structs, which no table can have.
        categorical : list, "auto" or None
            Features that are categories. "auto": texts of which few differ, and other texts are left out.
        missing : list of str or None
            Texts and numbers that mean missing values; None: empty texts, NA, NaN and the like.
        date_parts : bool
            Whether dates have their parts as features too: when.year, when.month, when.day, when.weekday, when.hour.
        drop_unlabeled : bool
            Whether rows whose label is missing are left out; they are refused where the label is needed.
        labels : path or None
            Of an IDX or .npy file: the file of its labels; None: of IDX train-labels-idx1-ubyte.gz beside
            train-images-idx3-ubyte.gz and the like, if it is there.
        key : str or None
            Of an HDF5 file: the group, dataset or data frame of pandas to read; None: the only one, or the datasets that
            are in no group. Of an NPZ archive: the array; None: all.
        n_features : int or None
            Of a libsvm file; None: as many as its largest index asks for.
        zero_based : bool
            Whether indices of a libsvm file count from 0 and not from 1.
        raw_type, raw_columns : dtype and int, or None
            Of a raw file, which has no header: what each value is, such as "float32", or ">f8" with the highest byte
            first, and how many a row has. Rows lie one after another.
        skip_bytes : int
            Of a raw file: bytes before its first row.
        rows : slice or None
            Such as slice(0, 1000); None: all.
        name : str or None
            Of the table; one without a name is dropped when the last reference to it goes.

        Raises
        ------
        FileNotFoundError, ValueError
            The latter with file and line, row or byte, and for what is chosen that the format does not have.
        """
        finds_categories = categorical == "auto"
        source = location_source(location, format=format, labels=labels, key=key, n_features=n_features,
                                 zero_based=zero_based,
                                 raw={"raw_type": raw_type, "raw_columns": raw_columns, "skip_bytes": skip_bytes},
                                 rows=rows, columns={"label": label, "weight": weight},
                                 lists={"columns": columns, "drop": drop, "missing": missing,
                                        "categorical": None if finds_categories else categorical},
                                 choices={"date_parts": date_parts or None, "drop_unlabeled": drop_unlabeled or None,
                                          "finds_categories": finds_categories or None})
        return self._load(source, name)

    def read_images(self, path: str | os.PathLike[str], *, size: int | str | None = None, channels: int | None = None,
                    fit: str | None = None, model: str | os.PathLike[str] | None = None, layer: str | None = None,
                    preprocess: str | os.PathLike[str] | None = None, cache: bool | str | os.PathLike[str] = True,
                    bits: int | None = None, pages: str | None = None, labels: str | os.PathLike[str] | None = None,
                    drop_unlabeled: bool = False, rows: slice | None = None, name: str | None = None) -> Table:
        """Read pictures: their pixels, or with `model` what a layer of a network makes of them.

        Parameters
        ----------
        path : str or path
            A folder, a pattern, a list of paths or a tar archive, which all executors must see. Labels are folders.
        size : int, "64x48" or None
            Pixels that pictures are brought to; with `model` what the network gets, if it takes any.
        channels : 1, 3 or None
            Of pixels: gray, which None is too, or red, green and blue.
        fit : "stretch", "crop", "pad" or None
            Of pixels: how pictures come to their size; None: "stretch".
        model : path or None
            ONNX file of a network.
        layer : str or None
            The tensor whose values are the features; None: the network's output.
        preprocess : str, path or None
            As of `podere.ImageFeatures`.
        cache : bool or path
            Whether features are kept in the user's cache folder, or another folder for them.
        bits : int or None
            As of `podere.ImageFeatures`; of pixels, too.
        pages : "first", "all" or None
            Which pages of a TIFF are rows; None: "first".
        labels : path or None
            File with the names of pictures and their labels; None: folders are labels, where there are any.
        drop_unlabeled : bool
            Leave out pictures without a label.
        rows : slice or None
            Such as slice(0, 1000); None: all.
        name : str or None
            Of the table; one without a name is dropped when the last reference to it goes.

        Raises
        ------
        ValueError
            For the first picture that cannot be decoded, and for what cannot be used.
        """
        location = images_location(path, size=size, channels=channels, fit=fit, model=model, layer=layer,
                                   preprocess=preprocess, cache=cache, bits=bits, pages=pages)
        return self.read(location, labels=labels, drop_unlabeled=drop_unlabeled, rows=rows, name=name)

    def read_root(self, path: str | os.PathLike[str], tree: str | None = None, branches: Sequence[str] | None = None, *,
                  label: str | None = None, weight: str | None = None, rows: slice | None = None,
                  name: str | None = None) -> Table:
        """Read a TTree of a ROOT file in this process, and put it: `put` of what `podere.read_root` gives.

        Parameters
        ----------
        path, tree, rows
            As of `podere.read_root`.
        branches : list of str or None
            Features, in this order; None: all branches but label and weight.
        label, weight : str or None
            Branches.
        name : str or None
            Of the table; one without a name is dropped when the last reference to it goes.
        """
        others = [branch for branch in (label, weight) if branch is not None]
        wanted = None if branches is None else [*branches, *(branch for branch in others if branch not in branches)]
        frame = read_root(path, tree, wanted, rows=rows)
        if missing := [branch for branch in others if branch not in frame]:
            raise ValueError(f"{path}: has no branch {missing[0]!r}")
        features = [branch for branch in frame if branch not in others]
        y, weights = (None if branch is None else frame[branch] for branch in (label, weight))
        return self.put(frame[features], y, weights, name=name)

    def put(self, X: Any, y: Any = None, sample_weight: Any = None, feature_names: Sequence[str] | None = None,
            name: str | None = None) -> Table:
        """Bring arrays of this process into the executors' memory; each reads the rows that it keeps.

        The arrays are read again when executors are lost, so they must not be changed while the table, or one made
        from it, is there: arrays that were are refused then. They are not copied unless they have gaps or are of a type that executors do not read.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix of shape (n_rows, n_features)
            Numbers of any type and layout; NaN is a missing value, infinity an error. All that `fit` takes: columns of
            the dtype category are categories, dates are days since 1970-01-01, and what a sparse matrix leaves out is 0.
        y : array of shape (n_rows,) or None
            Labels: numbers, truth values or texts. Classification takes any whole numbers as classes.
        sample_weight : array of shape (n_rows,) or None
        feature_names : list of str or None
            None: the columns of a DataFrame, or f0, f1, ...
        name : str or None
            Of the table; one without a name is dropped when the last reference to it goes.
        """
        arrays = put_arrays(X, y, sample_weight, feature_names)
        table_name = self._jobs.table_name(name)
        source = {"location": f"put:{table_name}", "arrays": arrays.description}
        result = self._jobs.run({"kind": "load", "table": source, "name": table_name})
        facts, = result["tables"]
        made_here = {"rounded": [{"column": column, "step": step} for column, step in arrays.rounded.items()]}
        for file in result.get("files", [made_here]):
            facts["read_as"] = read_as(file)
        if name is not None:
            self._jobs.keep_arrays(table_name, arrays.origin.arrays)
        return self._table(facts, arrays.origin, is_temporary=name is None)

    def put_batches(self, batches: Iterable[Any], label: str | None = None, weight: str | None = None,
                    features: Sequence[str] | None = None, name: str | None = None, *, address: str = "127.0.0.1") -> Table:
        """Bring batches of rows into the executors' memory, one after another, so that few are here at a time.

        Parameters
        ----------
        batches : iterable
            Tables and batches of Arrow, frames of pandas and Polars, and what Dask computes to one, of the same columns:
            numbers, booleans, decimals, dates, lists of numbers of one length. Texts must be categories (dictionaries of
            Arrow), all of which the first batch names. Nulls are missing values.
        label, weight : str or None
            Columns.
        features : list of str or None
            Columns, in this order; None: all others.
        name : str or None
            Of the table; one without a name is dropped when the last reference to it goes.
        address : str
            Of this machine, at which executors of the session reach it. They listen where it reaches them.

        Raises
        ------
        ValueError, TypeError
            For what has no meaning in a table, with the column.
        SessionError
            If executors are lost meanwhile, and batches can be gone through only once.
        """
        table_name = self._jobs.table_name(name if name is None else self._free_name(name))
        facts, origin = put_batches(self._jobs, batches, table_name, label, weight, features, address)
        return self._table(facts, origin, is_temporary=name is None)

    def _load(self, source: dict[str, Any], name: str | None) -> Table:
        result = self._jobs.run({"kind": "load", "table": source, "name": self._jobs.table_name(name)})
        facts, = result["tables"]
        for file in result.get("files", []):
            facts["first_line"] = file.get("first_line")
            facts["read_as"] = read_as(file)
        return self._table(facts, Origin(), is_temporary=name is None)

    def _table(self, facts: Facts, origin: Origin, *, is_temporary: bool) -> Table:
        return Table(self, StoredTable(self._jobs, facts, origin, is_temporary=is_temporary))

    # Models

    def fit(self, estimator: Any, table: Table, validation: Table | None = None,
            checkpoint: str | os.PathLike[str] | None = None, on_interrupt: str = "raise",
            tensorboard: str | os.PathLike[str] | None = None) -> Any:
        """Train on the executors: the model that estimator.fit gives for the same rows, byte for byte.

        Parameters
        ----------
        estimator : GBTClassifier, GBTRegressor, NNClassifier, NNRegressor, MLPClassifier or an AlgorithmClassifier
            Its `n_jobs` is not asked: the session has its cores. Classes are the labels that occur in the table.
        table : Table with a label
        validation : Table or None
            What `eval_set` is to estimator.fit.
        checkpoint : path or None
            Checkpoint file. If it is there, training resumes from it. None: the session keeps a checkpoint of its own.
        on_interrupt : {"raise", "keep"}
            Whether Ctrl-C raises KeyboardInterrupt and leaves the estimator as it was, or ends training with the model
            so far.
        tensorboard : path or None
            Folder for TensorBoard to show the run from while it runs: `--tensorboard` of the command line.

        Returns
        -------
        estimator
            The same object, now fitted. It predicts here as well as on tables.
        """
        if not isinstance(estimator, Estimator):
            raise TypeError(f"{estimator!r} is no estimator of Podere: allowed are GBTClassifier, GBTRegressor, "
                            "NNClassifier, NNRegressor and MLPClassifier")
        if on_interrupt not in ("raise", "keep"):
            raise ValueError(f"on_interrupt is {on_interrupt!r}, allowed are 'raise', 'keep'")
        table_of(self._jobs, table)
        if validation is not None:
            table_of(self._jobs, validation, "validation")
        return fit_on_table(estimator, table, validation, Run(
            checkpoint=None if checkpoint is None else self._jobs.output_path("checkpoint", checkpoint),
            tensorboard=None if tensorboard is None else absolute("tensorboard", tensorboard),
            keep_on_interrupt=on_interrupt == "keep"))

    def tune(self, estimator: Any, space: Mapping[str, Any] | None, table: Table, *, trials: int = 64,
             validation: Table | None = None, folds: int | None = None, score: str | None = None, search: str = "tpe",
             schedule: str = "asha", ensemble: int | None = None, one_standard_error: bool = False,
             nested: int | None = None, fold_group: str | None = None, seconds: float | None = None, seed: int = 0,
             study: str | os.PathLike[str] | None = None) -> Tuned:
        """Find the parameters that train the best model: what `podere tune` finds on any number of executors.

        Trials that look promising are trained longer; the best setting is then trained on all rows.

        Parameters
        ----------
        estimator : GBTClassifier, GBTRegressor, NNClassifier, NNRegressor or MLPClassifier
            Parameters that differ from their defaults are those of all trials. It stays as it is.
        space : dict or None
            For each parameter (low, high), (low, high, "log"), a list of values, a value, or a dict with "low", "high",
            "log", "step", and "when" ({other parameter: values}). None: the space of `podere tune gbt`, `nn` or `mlp`.
        table : Table with a label
        trials : int
        validation : Table or None
            Rows that trials are measured on. None: folds or a part of `table`.
        folds : int or None
            Measure trials on so many folds. None: five where there are fewer than 50,000 rows, else one row of five.
        score : str or None
            A measure of evaluate, such as "auc". None: the one that training minimizes.
        search : {"tpe", "random", "sobol", "grid"}
        schedule : {"asha", "halving", "hyperband", "median", "none"}
        ensemble : int or None
            Of boosted trees: blend trials that are best together, picked one by one up to so many times. None: the best
            trial alone.
        one_standard_error : bool
            Take the smallest model whose score on folds is within one standard error of the best.
        nested : int or None
            Also measure what such a search reaches: repeat it so many times, each without one part of the rows, and
            measure what it finds on that part. With `seconds`, each gets its share.
        fold_group : str or None
            Column whose rows of one value, such as one patient's, are held out together. It is no feature.
        seconds : float or None
            After which nothing more begins; then what is found depends on how fast it was.
        seed : int
            Of the search.
        study : path or None
            Journal of the search: with the same arguments it resumes there.

        Returns
        -------
        Tuned
            `estimator`, fitted, `params`, `score`, `trials`, `ensemble`, `nested` and `to_pandas()`.
        """
        if not isinstance(estimator, Estimator):
            raise TypeError(f"{estimator!r} is no estimator of Podere: allowed are GBTClassifier, GBTRegressor, "
                            "NNClassifier, NNRegressor and MLPClassifier")
        fields: dict[str, Any] = {"trials": whole("trials", trials, 1, 1_000_000), "search": search, "schedule": schedule,
                                  "seed": whole("seed", seed, 0, 2**64 - 1)}
        of_folds: dict[str, Any] = {} if folds is None else {"n": whole("folds", folds, 2, 100)}
        if fold_group is not None:
            if not isinstance(fold_group, str):
                raise TypeError(f"fold_group is {fold_group!r}, allowed is the name of a column")
            of_folds["group"] = fold_group
        if of_folds:
            fields["folds"] = of_folds
        if score is not None:
            fields["score"] = score
        if ensemble is not None:
            fields["ensemble"] = whole("ensemble", ensemble, 1, 100)
        if one_standard_error:
            fields["one_standard_error"] = True
        if nested is not None:
            fields["nested"] = whole("nested", nested, 2, 100)
        if seconds is not None:
            fields["seconds"] = real("seconds", seconds, "a number above 0 or None", above=0)
        if study is not None:
            fields["study"] = self._jobs.output_path("study", study)
        return tune_on_table(estimator, space, table_of(self._jobs, table),
                             None if validation is None else table_of(self._jobs, validation, "validation"), fields)

    def svd(self, table: Table | str | os.PathLike[str], rank: int, *, center: bool = False, scale: bool = False,
            left: bool = True, method: str = "auto", tolerance: float = 1e-10, max_passes: int = 100, seed: int = 0,
            impute: str | None = None, drop_missing: bool = False, columns: Sequence[str | int] | None = None,
            drop: Sequence[str | int] | None = None, missing: Sequence[str] | None = None, rows: slice | None = None,
            format: str | None = None, key: str | None = None, raw_type: Any = None, raw_columns: int | None = None,
            skip_bytes: int = 0, name: str | None = None) -> SVD:
        """Find leading singular values and vectors of a tall matrix, as `podere svd` does: docs/matrices.md.

        The same bits on any number of executors, with a residual of each value.

        Parameters
        ----------
        table : Table, str or path
            A table, whose features are float32, or a file that executors read themselves: of NPY, NPZ, HDF5 and raw
            numbers as float64, of other formats as float32. For arrays of this process there is `podere.PCA`.
        rank : int
            How many values and vectors.
        center : bool
            Subtract the mean of each column first: principal components.
        scale : bool
            Divide each column by its standard deviation, too; centers.
        left : bool
            Whether `U` is wanted, which takes 8 bytes x n_rows x rank here.
        method : {"auto", "gram", "krylov"}
            Products of all pairs of columns, block Krylov subspaces, or what suits the shape.
        tolerance : float
            Largest residual of a value, in that value.
        max_passes : int
            Most passes over the rows.
        seed : int
            Of the columns with which "krylov" begins.
        impute : "mean" or None
            Missing values become the mean of their column; None refuses them.
        drop_missing : bool
            Leave out columns without a value in any row, such as places on land: `columns` of the result are the others.
        columns, drop, missing, rows, format, key, raw_type, raw_columns, skip_bytes
            Of a file, as of `read`.
        name : str or None
            Of a table, of float32, as which the executors keep the left vectors: `U` is this Table. None: an array.

        Raises
        ------
        FileNotFoundError, ValueError
            The latter with file, row and column for a value that is missing or infinite.
        """
        fields = svd_fields(rank=rank, center=center, scale=scale, left=left, method=method, tolerance=tolerance,
                            max_passes=max_passes, seed=seed, impute=impute, drop_missing=drop_missing)
        keep = self._keep("U", name, fields["left"], "left")
        source = matrix_source(self._jobs, table, "podere.PCA and podere.TruncatedSVD find components", columns=columns,
                               drop=drop, missing=missing, rows=rows, format=format, key=key, raw_type=raw_type,
                               raw_columns=raw_columns, skip_bytes=skip_bytes)
        return svd_on_executors(self._jobs, source, fields, keep)

    def covariance(self, table: Table | str | os.PathLike[str], *, correlation: bool = False, impute: str | None = None,
                   columns: Sequence[str | int] | None = None, drop: Sequence[str | int] | None = None,
                   missing: Sequence[str] | None = None, rows: slice | None = None, format: str | None = None,
                   key: str | None = None, raw_type: Any = None, raw_columns: int | None = None,
                   skip_bytes: int = 0) -> Covariance:
        """Find covariances or correlations of columns, as `podere covariance` does: docs/matrices.md.

        The same bits on any number of executors.

        Parameters
        ----------
        table : Table, str or path
            As of `svd`. For arrays of this process there are `numpy.cov` and `numpy.corrcoef`.
        correlation : bool
            Whether `matrix` has correlations in place of covariances.
        impute : "mean" or None
            Missing values become the mean of their column; None refuses them.
        columns, drop, missing, rows, format, key, raw_type, raw_columns, skip_bytes
            Of a file, as of `read`.

        Raises
        ------
        FileNotFoundError, ValueError
            The latter with file, row and column for a value that is missing or infinite.
        """
        source = matrix_source(self._jobs, table, "numpy.cov and numpy.corrcoef find them", columns=columns, drop=drop,
                               missing=missing, rows=rows, format=format, key=key, raw_type=raw_type,
                               raw_columns=raw_columns, skip_bytes=skip_bytes)
        return covariance_on_executors(self._jobs, source, correlation, impute)

    def qr(self, table: Table | str | os.PathLike[str], *, q: bool = True, impute: str | None = None,
           columns: Sequence[str | int] | None = None, drop: Sequence[str | int] | None = None,
           missing: Sequence[str] | None = None, rows: slice | None = None, format: str | None = None,
           key: str | None = None, raw_type: Any = None, raw_columns: int | None = None, skip_bytes: int = 0,
           name: str | None = None) -> QR:
        """Find orthonormal columns and a triangle, A = Q R, as `podere qr` does: docs/matrices.md.

        The same bits on any number of executors.

        Parameters
        ----------
        table : Table, str or path
            As of `svd`, with at least as many rows as columns. For arrays of this process there is `numpy.linalg.qr`.
        q : bool
            Whether `Q` is wanted, which takes 8 bytes x n_rows x n_columns here.
        impute : "mean" or None
            Missing values become the mean of their column; None refuses them.
        columns, drop, missing, rows, format, key, raw_type, raw_columns, skip_bytes
            Of a file, as of `read`.
        name : str or None
            Of a table, of float32, as which the executors keep `Q`. None: an array.

        Raises
        ------
        FileNotFoundError, ValueError
            The latter with file, row and column for a value that is missing or infinite, and for columns that depend on
            those before them.
        """
        wants_q = flag("q", q)
        keep = self._keep("Q", name, wants_q, "q")
        source = matrix_source(self._jobs, table, "numpy.linalg.qr finds it", columns=columns, drop=drop, missing=missing,
                               rows=rows, format=format, key=key, raw_type=raw_type, raw_columns=raw_columns,
                               skip_bytes=skip_bytes)
        return qr_on_executors(self._jobs, source, wants_q, impute, keep)

    def _keep(self, array: str, name: str | None, is_wanted: bool, parameter: str) -> Keep | None:
        """What makes a table called `name` of an array with many rows, if it is wanted by a parameter of that name."""
        if name is None:
            return None
        free = self._free_name(name)
        if not is_wanted:
            raise ValueError(f"name is {name!r}, allowed with {parameter}=False is None")
        return lambda path, others: self.read(path, format="npz", drop=others, name=free)

    def _free_name(self, name: str) -> str:
        if name in self.tables:
            raise ValueError(f"there is a table called {name} already: drop it first")
        return name

    def evaluate(self, model: Any, table: Table, *, roc_points: int = 0) -> dict[str, Any]:
        """How good a fitted estimator is on a table.

        Returns
        -------
        dict
            "rows" and what fits the objective: "auc", "accuracy", "log_loss", "confusion" (array of shape (n_classes,
            n_classes), true by predicted), or "root_mean_squared_error" and others. With `roc_points`, "roc": an array
            of shape (n_points, 3) of threshold, false positive rate and true positive rate.
        """
        self._check(model, table)
        return evaluate_on_table(model, table, roc_points)

    def predict(self, model: Any, table: Table) -> NDArray[Any]:
        """What model.predict gives for the rows of a table, computed by the executors.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        self._check(model, table)
        values: NDArray[Any] = model.predict(table)
        return values

    def predict_proba(self, model: Any, table: Table) -> NDArray[Any]:
        """What model.predict_proba gives for the rows of a table: of shape (n_rows, n_classes)."""
        if not hasattr(model, "predict_proba"):
            raise TypeError(f"{type(model).__name__} has no probabilities")
        self._check(model, table)
        values: NDArray[Any] = model.predict_proba(table)
        return values

    def _check(self, model: Any, table: Any) -> None:
        if not isinstance(model, Estimator):
            raise TypeError(f"{type(model).__name__} is no estimator of Podere")
        check_is_fitted(model)
        table_of(self._jobs, table)

    # Jobs and executors

    @property
    def jobs(self) -> list[dict[str, Any]]:
        """What was asked for, the last ones of many: "job" (a number), "kind", "state", "seconds", "progress"."""
        return self._jobs.status["jobs"]

    def log(self, job: int | None = None) -> list[str]:
        """What happened in a job, line by line, such as losses of executors; None is the last job that has begun.

        (But for those that drop tables without references.)
        """
        lines: list[str] = self._record_of(job, "running", "done", "failed", "cancelled").get("log", [])
        return lines

    def metrics(self, job: int | None = None) -> dict[str, Any]:
        """What a job cost: seconds of work, waiting and CPU, bytes, rows, memory. None is the last job that is done.

        (But for those that drop tables without references.)

        Returns
        -------
        dict
            The figures of docs/metrics.md: of the "job", as a dict; of each of its "phases", as a list of dicts; and of
            its "tasks", each a phase on one executor. Empty for a job that failed or is not done.
        """
        return self._record_of(job, "done").get("metrics") or {}

    def report(self, path: str | os.PathLike[str], jobs: Sequence[int] | None = None) -> str:
        """Write a page that shows runs, which opens in any browser, or the facts alone if `path` ends in .json.

        Parameters
        ----------
        path : path
        jobs : list of int or None
            Their numbers, as `jobs` has them; None: all that trained, measured, explained or predicted and are done.

        Returns
        -------
        str
            The path.
        """
        if jobs is None:
            jobs = [job["job"] for job in self.jobs if job["state"] in ("done", "cancelled")
                    and job["kind"] in _SHOWN_KINDS]
            runs = self._jobs.runs_there(jobs)
        else:
            runs = [self._jobs.run_of(_count("jobs", job)) for job in jobs]
        if not runs:
            raise ValueError("no job has trained, measured, explained or predicted yet: there is nothing to report")
        text = _core.report_text(json.dumps(runs), not os.fspath(path).endswith(".json"))
        _core.write_file(os.fspath(path), text)
        return os.fspath(path)

    def _record_of(self, job: int | None, *states: str) -> dict[str, Any]:
        """The record of a job; None is the last that is in one of these states."""
        if job is None:
            numbers = [known["job"] for known in self.jobs if known["state"] in states and known["kind"] != "drop"]
            if not numbers:
                return {}
            job = numbers[-1]
        record: dict[str, Any] = self._connection.ask(ask="job", job=_count("job", job))
        return record

    def cancel(self, job: int) -> None:
        """Stop a job, of another thread or process. Training keeps the trees it has."""
        self._connection.ask(cancel_job=_count("job", job))

    def scale(self, n: int) -> None:
        """Continue with `n` executors, soon; training pauses at a checkpoint. The model stays the same."""
        self._connection.ask(scale={"executors": _count("n", n)})

    def adapt(self, minimum: int = 1, maximum: int = 1) -> None:
        """Continue with `maximum` executors, and when some are lost with what is left, down to `minimum`."""
        minimum, maximum = _count("minimum", minimum), _count("maximum", maximum)
        if minimum > maximum:
            raise ValueError(f"minimum is {minimum}, allowed is at most maximum, {maximum}")
        self._connection.ask(scale={"executors": maximum, "least": minimum})

    def close(self) -> None:
        """Leave the session, and end it if it was started here. May be called more than once."""
        self._finalizer()

    def shutdown(self) -> None:
        """End the session with its executors, whichever process started it."""
        if self._finalizer.detach() is not None:
            self._connection.close(stop=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self._finalizer.alive:
            return f"<podere.Session {self.name}: closed>"
        try:
            status = self.status
        except RuntimeError as error:
            return f"<podere.Session {self.name}: {error}>"
        return (f"<podere.Session {self.name}: {status['executors']} executors x {status['cores']} cores, "
                f"{len(status['tables'])} tables>")

    def _repr_html_(self) -> str:
        text = html.escape(repr(self).strip("<>").removeprefix("podere."))
        link = page_link(self.page) if self._finalizer.alive else ""
        return f"{text} · {link}" if link else text


def _farm_name(farm: Any) -> str:
    if not isinstance(farm, str) or not farm:
        raise ValueError(f"farm is {farm!r}, allowed is a name such as \"astro\" or \"namespace/astro\"")
    return farm


def _session_name(name: Any) -> str:
    if isinstance(name, str) and re.fullmatch("[A-Za-z0-9_-][A-Za-z0-9._-]{0,39}", name):
        return name
    raise ValueError(f"name is {name!r}, allowed are up to 40 letters, digits, dots, _ and -")
