#!/usr/bin/env python3
"""Random tables as pandas, R, Excel and people write them, through `podere describe`, train, evaluate and predict.

What pandas reads is what Podere must read: as many rows, the same numbers, the same names. Where Podere refuses, its own
advice is followed until a command works. What it cannot know (is this line a header?) it may refuse, never get wrong.
"""

import csv
import gzip
import io
import re

from rounds import Answer, Finding, asked, run

OPTIONS = asked(__doc__)

import numpy
import pandas

MISSING = ["", "NA", "NaN", "N/A", "None", "null", "-", "?", "-999", "missing", ".", "#N/A", "nan", "unknown"]
USUAL = ["label", "target", "class", "y", "Label", "TARGET", "Y"]
UNUSUAL = ["signal", "quality", "outcome", "is signal", "Größe", "survived", "label_2", "a,b", "y'", "b;c", "1st"]


# --- columns -----------------------------------------------------------------------------------------------------------


def feature(rng, n):
    """The kind of a random column that says nothing about the label, and its fields."""
    kinds = {
        "real": lambda i: repr(round(rng.gauss(0, 3), rng.choice([1, 3, 6]))),
        "integer": lambda i: str(rng.randint(-50, 50)),
        "code": lambda i: str(rng.randint(0, 3)),
        "constant": lambda i: "7",
        "counter": lambda i: str(i),
        "year": lambda i: str(rng.randint(1950, 2026)),
        "exponent": lambda i: f"{rng.gauss(0, 1):.3e}",
        "spelled": lambda i: rng.choice(["+1.5", ".5", "5.", "1E3", "-0", "007", "1e-400", "2.50"]),
        "infinite": lambda i: rng.choice(["inf", "-inf", "1.5", "2"]),
        "text": lambda i: rng.choice(["red", "green", "blue sky", "it's", "ab"]),
        "date": lambda i: f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "time": lambda i: f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}",
        "id": lambda i: f"A{1000 + i}",
        "hash": lambda i: f"{rng.getrandbits(32):08x}",
        "boolean": lambda i: rng.choice(["True", "False"]),
        "percent": lambda i: f"{rng.randint(0, 100)}%",
        "quoted": lambda i: rng.choice(['say "hi"', "a,b", "a;b", "two\nlines", "x"]),
    }
    kind = rng.choice(list(kinds))
    return kind, [kinds[kind](i) for i in range(n)]


def label(rng, signal):
    """The kind of the label, its fields, and the objective that learns it (None: Podere is to refuse it)."""
    order = signal.argsort().argsort() * 1.0 / len(signal)
    high = [int(share >= 0.5) for share in order]
    kind = rng.choice(["0 and 1"] * 4 + ["0.0 and 1.0", "1 and 2", "-1 and 1", "classes", "classes from 1", "texts", "booleans",
                                         "numbers", "numbers", "whole numbers", "one class", "holes"])
    n_classes = rng.randint(3, 5)
    classes = [int(share * n_classes) for share in order]
    fields, objective = {
        "0 and 1": (high, "logistic"),
        "0.0 and 1.0": ([float(bit) for bit in high], "logistic"),
        "1 and 2": ([bit + 1 for bit in high], None),
        "-1 and 1": ([2 * bit - 1 for bit in high], None),
        "classes": (classes, "softmax"),
        "classes from 1": ([k + 1 for k in classes], None),
        "texts": ([["no", "yes"][bit] for bit in high], None),
        "booleans": ([bool(bit) for bit in high], None),
        "numbers": ([round(10 * value + 3, 4) for value in signal], "squared-error"),
        "whole numbers": ([int(1000 * share) for share in order], "squared-error"),
        "one class": ([1 for bit in high], "logistic"),
        "holes": ([bit if rng.random() < 0.95 else None for bit in high], None),
    }[kind]
    return kind, fields, objective


class Table:
    """A random table, the file it is in, and what is true of it."""

    def __init__(self, rng, folder):
        n = rng.choice([rng.randint(3, 12), rng.randint(60, 300), rng.randint(60, 300)])
        self.n, self.missing = n, rng.choice(MISSING)
        signal = numpy.array([rng.gauss(0, 1) for _ in range(n)])
        columns = [("real", [repr(round(value, 4)) for value in signal])]
        columns += [feature(rng, n) for _ in range(rng.randint(0, 5))]
        rng.shuffle(columns)
        self.label_kind, fields, self.objective = label(rng, signal)
        at = rng.choice([0, len(columns), rng.randint(0, len(columns))])
        columns.insert(at, ("label", ["" if field is None else str(field) for field in fields]))
        self.label_at, self.kinds = at, [kind for kind, _ in columns]
        names = [rng.choice(["x", "pt", "Temp (C)", "n", "col", "2nd", "Straße"]) + (f"_{i}" if rng.random() < 0.9 else "") for i in range(len(columns))]
        names[at] = rng.choice(USUAL + UNUSUAL)
        if rng.random() < 0.15:
            names = [str(i) for i in range(len(columns))]
        self.names = [name if names.index(name) == i else f"{name}.{i}" for i, name in enumerate(names)]
        fields = [list(texts) for _, texts in columns]
        for (kind, _), column in zip(columns, fields):
            if kind != "label" and rng.random() < 0.3:
                for i in range(n):
                    if rng.random() < 0.05 or (i == 0 and rng.random() < 0.5):
                        column[i] = self.missing
        self.writer = rng.choice(["pandas", "pandas", "pandas index", "R", "Excel", "hand"])
        self.header = rng.random() < 0.7 or self.writer in ("R", "pandas index")
        self.path = "table.csv" + (".gz" if rng.random() < 0.1 else "")
        text, self.separator = self.write(rng, [list(row) for row in zip(*fields)])
        raw = text.encode()
        with open(f"{folder}/{self.path}", "wb") as file:
            file.write(gzip.compress(raw) if self.path.endswith(".gz") else raw)
        self.frame = pandas.read_csv(
            f"{folder}/{self.path}", sep=self.separator, header=0 if self.header else None, dtype=str, keep_default_na=False,
            skipinitialspace=True, encoding="utf-8-sig")
        if not self.header:
            self.names = [f"f{i}" for i in range(self.frame.shape[1])]
        assert self.frame.shape[1] == len(self.names), (self.frame, self.names)

    def write(self, rng, rows):
        """The file's text and its delimiter; counts in what row names add."""
        if self.writer in ("R", "pandas index"):
            rows = [[str(i + (self.writer == "R"))] + row for i, row in enumerate(rows)]
            self.names, self.kinds, self.label_at = [""] + self.names, ["counter"] + self.kinds, self.label_at + 1
        separator = rng.choice({"pandas": ",,,;\t|", "pandas index": ",,,;\t", "R": ",,;", "Excel": ",;", "hand": ",,;\t"}[self.writer])
        end = "\r\n" if self.writer == "Excel" else "\n"
        out = io.StringIO()
        quoting = {"R": csv.QUOTE_MINIMAL, "pandas": rng.choice([csv.QUOTE_MINIMAL] * 3 + [csv.QUOTE_ALL])}.get(self.writer, csv.QUOTE_MINIMAL)
        writer = csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting)
        lines = ([self.names] if self.header else []) + rows
        if self.writer == "R":  # texts and names in quotes, numbers and NA not
            quote = lambda text: '"' + text.replace('"', '""') + '"'
            for number, line in enumerate(lines):
                marked = [quote(text) if number == 0 or i == 0 or self.kinds[i] in ("text", "date", "id", "quoted") and text != self.missing
                          or self.kinds[i] == "label" and self.label_kind == "texts" else text for i, text in enumerate(line)]
                out.write(separator.join(marked) + end)
        else:
            writer.writerows(lines)
        text = out.getvalue()
        if self.writer == "Excel" and rng.random() < 0.7:
            text = "\ufeff" + text
        if self.writer == "hand" and separator != "\t" and '"' not in text and rng.random() < 0.5:
            text = text.replace(separator, separator + " ")
        if self.writer == "hand":
            text = text[: -len(end)] + rng.choice(["", end, end + end, end + end + end])
        return text, separator

    def numbers(self, i):
        """What pandas makes of column i: numbers, NaN where they are missing, or None where fields are texts."""
        column = self.frame.iloc[:, i].str.strip()
        try:
            return column.where(~column.isin(["", self.missing] + MISSING[:4]), "nan").astype(float).astype("float32")
        except ValueError:
            return None

    def __str__(self):
        return (f"{self.writer} {self.n} x {len(self.names)} {'' if self.header else 'no '}header {self.separator!r} "
                f"missing {self.missing!r} label {self.names[self.label_at]!r} at {self.label_at} ({self.label_kind})")


# --- what Podere says of them ------------------------------------------------------------------------------------------


def settle_header(table, folder):
    """Options with which the first line is read as it was meant; a doubtful one Podere has refused."""
    answer = Answer(["describe", table.path, "--json"], folder)
    if answer.code == 0:
        said = answer.json["files"][0]["first_line"]
        if said != ("names" if table.header else "row"):
            raise Finding(f"the first line is read as {said}: {answer}; {table.frame.head(3).values.tolist()}")
        return []
    if "--header" not in answer.error or "--no-header" not in answer.error:
        raise Finding(f"no word of how to settle it: {answer}")
    return ["--header" if table.header else "--no-header"]


def check_description(table, options, folder):
    answer = Answer(["describe", table.path, "--json", *options], folder)
    facts = answer.json
    if facts["rows"] != len(table.frame) or len(facts["columns"]) != len(table.names):
        raise Finding(f"{facts['rows']} rows of {len(table.frame)}, {len(facts['columns'])} columns of {len(table.names)}: {answer}")
    for i, column in enumerate(facts["columns"]):
        name = table.names[i] or f"f{i}"
        if column["name"] != name:
            raise Finding(f"column {i} is {column['name']!r}, not {name!r}: {answer}")
        numbers = table.numbers(i)
        if numbers is None or column.get("texts"):
            continue
        finite = numbers[numpy.isfinite(numbers)]
        if column["missing"] != int(numbers.isna().sum()) or len(finite) and (
                not numpy.isclose(column["minimum"], finite.min(), rtol=1e-5) or not numpy.isclose(column["maximum"], finite.max(), rtol=1e-5)):
            raise Finding(f"column {name} is described as {column}, pandas has {numbers.isna().sum()} missing, {finite.min()} to {finite.max()}: {answer}")


def follow(arguments, answer):
    """The command as a refusal advises to change it, or None."""
    error = answer.error
    for pattern in (r"leave out with (--drop .+?), take texts as", r"such as (--label .+?), or --label", r"such as (--label .+?)$",
                    r"or (--label .+? --objective squared-error)"):
        found = re.search(pattern, error.strip())
        if found:
            option, _, value = found[1].partition(" ")
            rest = []
            if value.endswith(" --objective squared-error"):
                value, rest = value[: -len(" --objective squared-error")], ["--objective", "squared-error"]
            value = value[1:-1] if value[:1] == value[-1:] == "'" else value
            if option in arguments:
                return None
            return [*arguments, option, value, *rest]
    return None


def train_as_advised(table, arguments, folder):
    """Follows Podere's advice from refusal to refusal until it trains, or has no more."""
    for _ in range(4):
        answer = Answer(arguments, folder)
        if answer.code == 0:
            return answer
        before, arguments = answer, follow(arguments, answer)
        if arguments is None:
            return answer
    raise Finding(f"no end of advice: {before}")


def check_guess(table, options, folder):
    """Without --label: the choice is reported, the usual name comes first, and what a refusal advises works."""
    answer = train_as_advised(table, ["train", "gbt", table.path, "--json", "--trees", "2", "-o", "guess.json", *options], folder)
    if answer.code != 0:
        if "label" not in answer.error:
            raise Finding(f"neither trained nor advised: {answer}")
        return
    chosen = answer.json["label"]
    usual = [name for name in table.names if name.lower() in ("label", "target", "class", "y")]
    right = table.names[table.label_at]
    if chosen["chosen"] == "name" and [chosen["column"]] != usual or chosen["chosen"] == "first" and len(usual) == 1 and f"--drop" not in answer.arguments:
        raise Finding(f"label {chosen} was chosen where {usual} are there: {answer}")
    if chosen["chosen"] == "first" and chosen["column"] != right and table.kinds[chosen["position"]] in ("real", "counter", "exponent"):
        raise Finding(f"label {chosen} was guessed, it is {right!r}: {answer}")
    if answer.json["rows"] != len(table.frame):
        raise Finding(f"{answer.json['rows']} rows of {len(table.frame)}: {answer}")


def train(table, options, folder):
    """Trains on the label; texts are left out or read as categories, as the advice has it. None if it is to be refused."""
    name = table.names[table.label_at] or f"f{table.label_at}"
    arguments = ["train", "gbt", table.path, "--label", name, "--json", "--trees", "30", "--learning-rate", "0.3",
                 "--min-child-weight", "0.1", "-o", "model.json", *options]
    if table.objective:
        arguments += ["--objective", table.objective]
    answer = Answer(arguments, folder)
    if answer.code == 2 and "leave out with --drop" in answer.error:
        arguments = follow(arguments, answer)
        answer = Answer(arguments, folder)
        if answer.code == 2 and table.objective and not (table.label_kind in ("one class", "classes") and "class" in answer.error):
            raise Finding(f"the advice does not do: {answer}")
    if table.objective is None or table.label_kind == "one class" or table.label_kind == "classes" and table.n < 60:
        if answer.code == 0 and table.objective is None and table.label_kind != "holes":
            raise Finding(f"labels of {table.label_kind} were accepted: {answer}")
        if answer.code == 2 and "label" not in answer.error:
            raise Finding(f"refused without a word of the label: {answer}")
        if table.label_kind in ("1 and 2", "classes from 1") and answer.code == 2 and "--classes" in answer.error:
            classes = re.search(r"--classes (\d+)", answer.error)[1]
            advised = Answer([*arguments, "--objective", "softmax", "--classes", classes], folder)
            if advised.code != 0:
                raise Finding(f"the advice does not do: {advised}")
        return None
    facts = answer.json
    position = table.label_at
    if facts["label"]["column"] != name or facts["label"]["position"] != position:
        raise Finding(f"label {facts['label']}, not {name!r} at {position}: {answer}")
    if facts["rows"] != len(table.frame):
        raise Finding(f"{facts['rows']} rows of {len(table.frame)}: {answer}")
    said = [line for line in Answer([argument for argument in arguments if argument != "--json"], folder).out.splitlines()
            if not line.startswith(table.path + ":")][0]  # what was found of the file comes first
    if not re.match(rf"label +{re.escape(name)} \(column {position}", said):
        raise Finding(f"the first line says {said!r}: {answer}")
    return arguments


def check_predictions(table, trained, options, folder):
    """Predictions on the training table fit the label and what evaluate says."""
    truth = table.numbers(table.label_at).to_numpy()
    name = table.names[table.label_at] or f"f{table.label_at}"
    measured = Answer(["evaluate", "model.json", table.path, "--json", "--label", name, *options], folder)
    answer = Answer(["predict", "model.json", table.path, "--json", "-o", "predictions.csv", *options]
                    + ([] if table.header else ["--drop", name]), folder)
    for each in (measured, answer):
        if each.code == 2 and not table.header and "--drop" in trained:  # without names the features are counted
            return
    if answer.json["rows"] != len(truth) or measured.json["rows"] != len(truth):
        raise Finding(f"{answer.json['rows']} predictions for {len(truth)} rows: {answer}")
    predictions = numpy.loadtxt(f"{folder}/predictions.csv", delimiter=",", ndmin=2)
    if table.objective == "squared-error":
        error = numpy.sqrt(numpy.mean((predictions[:, 0] - truth) ** 2))
        good, same = error < 0.4 * truth.std(), numpy.isclose(error, measured.json["root_mean_squared_error"], rtol=1e-3)
    else:
        classes = (predictions[:, 0] >= 0.5) if predictions.shape[1] == 1 else predictions.argmax(axis=1)
        share = numpy.mean(classes == truth)
        good, same = share > 0.85, numpy.isclose(share, measured.json["accuracy"], atol=1.01 / len(truth))
    if not same or table.n >= 60 and not good:
        raise Finding(f"predictions do not fit (good {good}, as measured {same}): {measured} {measured.out}")


def check_by_name(table, trained, options, folder):
    """Columns are found by their names: in another order, without the label, by another writer, the predictions are the same."""
    columns = [i for i in range(len(table.names)) if i != table.label_at]
    if not table.header or "" in table.names or len(columns) < 2 or "0" in table.names:  # 2,1,0 may be a row
        return
    other = table.frame.iloc[:, columns[::-1]]
    other.columns = [table.names[i] for i in columns[::-1]]
    other.to_csv(f"{folder}/other.csv", sep=";", index=False)
    options = [option for option in options if option not in ("--header", "--no-header")]
    answer = Answer(["predict", "model.json", "other.csv", "--json", "-o", "other_predictions.csv", *options], folder)
    if answer.json["rows"] != len(other):
        raise Finding(f"{answer.json['rows']} predictions for {len(other)} rows: {answer}")
    with open(f"{folder}/predictions.csv") as before, open(f"{folder}/other_predictions.csv") as after:
        if before.read() != after.read():
            raise Finding(f"other predictions where columns are in another order: {answer}")


def one_round(rng, folder, log):
    table = Table(rng, folder)
    log.append(str(table))
    options = settle_header(table, folder)
    if table.missing not in MISSING[:3]:
        options += ["--missing", table.missing]
    log += options
    check_description(table, options, folder)
    check_guess(table, options, folder)
    trained = train(table, options, folder)
    if trained is not None:
        check_predictions(table, trained, options, folder)
        check_by_name(table, trained, options, folder)


if __name__ == "__main__":
    run(one_round, OPTIONS)
