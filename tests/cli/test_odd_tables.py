"""Tables as they come from other programs: each is read as pandas reads it, or as its options say."""
import bz2
import gzip
import io
import json
import lzma
import pathlib
import zipfile

import numpy as np
import pandas as pd
import pytest

TABLE = "a,b,y\n1,2.5,0\n3,,1\n-4,1e3,0\n"
DAYS = pd.Timestamp("1970-01-01")


def described(podere, path, *options):
    columns = json.loads(podere.done("describe", path, "--json", *options).stdout)["columns"]
    return {column["name"]: column for column in columns}


def check(podere, path, frame, *options):
    """Each column of the file has the values of `frame`, by minimum, mean, maximum and missing ones."""
    found = described(podere, path, *options)
    assert list(found) == list(frame.columns)
    for name, column in found.items():
        values = frame[name].astype("float32")
        assert column.get("texts", 0) == 0 and column["missing"] == int(values.isna().sum()), (name, column)
        for key, value in (("minimum", values.min()), ("mean", values.astype(float).mean()), ("maximum", values.max())):
            assert column[key] == pytest.approx(value, rel=1e-6), (name, key)


def zipped(text):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/table.csv", text)
    return packed.getvalue()


LINES = {
    "blank lines": ("\n\n" + TABLE.replace("\n3", "\n\n   \n3") + "\n\n", {}),
    "carriage returns": (TABLE.replace("\n", "\r"), {}),
    "CRLF and blank lines": (TABLE.replace("\n", "\r\n\r\n"), {}),
    "comments": ("# made by \"it's\"\n" + TABLE.replace("\n3", " # one\n#\n3"), {"comment": "#"}),
    "vertical bars": (TABLE.replace(",", "|"), {"sep": "|"}),
    "an index": (pd.read_csv(io.StringIO(TABLE)).to_csv(), {"index_col": 0}),
    "a shuffled index": (pd.read_csv(io.StringIO(TABLE)).sample(frac=1, random_state=3).to_csv(), {"index_col": 0}),
    "row names of R": ('"a" "b" "y"\n"one" 1 2 0\n"two" 3 NA 1\n', {"sep": " "}),
    "trailing delimiters": (TABLE.replace("\n", ",\n"), {"usecols": [0, 1, 2]}),
    "repeated names": ("a,a,y\n1,2,0\n3,4,1\n", {}),
    "padded": ("a , b,  y\n  1,2  ,0\n3, 4 , 1 \n", {"skipinitialspace": True}),
}


@pytest.mark.parametrize("kind", LINES)
def test_lines_are_those_of_pandas(podere, kind):
    text, options = LINES[kind]
    podere.write("t.csv", text)
    frame = pd.read_csv(podere.folder / "t.csv", **options)
    frame.columns = frame.columns.str.strip()
    check(podere, "t.csv", frame, *(["--comment", "#"] if "comment" in options else []))


def lzma_alone(text):
    return lzma.compress(text, format=lzma.FORMAT_ALONE)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, lzma_alone, zipped])
def test_what_is_packed_is_known_by_its_first_bytes(podere, pack):
    text = "a,b,y\n" + "".join(f"{i},{i * 7 % 11},{i % 2}\n" for i in range(20000))
    podere.write("plain.csv", text)
    packed = pack(text.encode())
    (podere.folder / "packed").write_bytes(packed)
    (podere.folder / "half").write_bytes(packed[:len(packed) // 2])
    options = ["--label", "y", "--trees", 2]
    podere.done("train", "gbt", "plain.csv", *options, "-o", "p.json")
    for executors in (1, 3):
        podere.done("train", "gbt", "packed", *options, "-o", "q.json", "--executors", executors)
        assert (podere.folder / "q.json").read_bytes() == (podere.folder / "p.json").read_bytes()
        podere.done("train", "gbt", "packed", *options, "-o", "q.json", "--low-memory", "--executors", executors)
        assert (podere.folder / "q.json").read_bytes() == (podere.folder / "p.json").read_bytes()
    message = podere.refused("train", "gbt", "half", *options, "-o", "r.json")
    assert "half: the " in message and "cut short" in message


def test_numbers_dates_and_booleans_are_read_as_what_they_are(podere):
    podere.write("t.csv", "price;share;seen;when;logged;y\n"
                          "1.234,5;12 %;True;03.02.2026;2026-02-03T12:00:00+01:00;0\n"
                          ";3,5;False;28.02.2026;2026-02-03T12:00:00Z;1\n"
                          "-0,25;;True;;;0\n".replace("3,5;F", "3.5 %;F"))
    when = (pd.to_datetime(pd.Series(["2026-02-03", "2026-02-28", None])) - DAYS) / pd.Timedelta(days=1)
    logged = (pd.to_datetime(pd.Series(["2026-02-03 11:00", "2026-02-03 12:00", None])) - DAYS) / pd.Timedelta(days=1)
    check(podere, "t.csv", pd.DataFrame({"price": [1234.5, np.nan, -0.25], "share": [12, 3.5, np.nan],
                                         "seen": [1.0, 0, 1], "when": when, "logged": logged, "y": [0.0, 1, 0]}))
    said = podere.done("describe", "t.csv").stdout
    for line in ("column price holds numbers with a decimal comma\n", "column share holds percentages: 12 for 12 %\n",
                 "column seen holds booleans: 1 where true\n", "column when holds dates: days since 1970-01-01\n"):
        assert f"t.csv: {line}" in said


def test_describe_says_what_each_column_was_taken_for(podere):
    podere.write("t.csv", "when;x;town;few\n" + "".join(f"{1 + i % 28:02}.02.2026;{i},5;{'Rome' if i % 2 else 'Bari'};{i % 3}\n"
                                                        for i in range(2000)))
    for executors in (1, 3):
        columns = described(podere, "t.csv", "--executors", executors)
        assert {name: (column["kind"], column["different"]) for name, column in columns.items()} == {
            "when": ("date", 28), "x": ("number", None), "town": ("text", 2), "few": ("number", 3)}
        assert columns["when"]["examples"] == ["01.02.2026", "02.02.2026", "03.02.2026"]
        assert columns["town"]["examples"] == ["Bari", "Rome"] and columns["town"]["texts"] == 2000
    lines = podere.done("describe", "t.csv").stdout.splitlines()
    assert any(line.split()[:6] == ["when", "date", "01.02.2026,", "02.02.2026", "28", "2026-02-01"] for line in lines), lines
    assert any(line.split()[:4] == ["town", "text", "Bari,", "Rome"] for line in lines), lines


def test_a_model_knows_that_it_learned_dates(podere):
    rows = "".join(f"2026-{1 + i % 12:02}-{1 + i % 28:02},{i % 7},{int(i % 12 > 5)}\n" for i in range(400))
    podere.write("train.csv", "when,x,y\n" + rows)
    for executors in (1, 3):
        out = podere.done("train", "gbt", "train.csv", "--trees", 10, "-o", f"m{executors}.json", "--executors", executors,
                          "--validation", "train.csv")
        assert "train.csv: column when holds dates" in out.stdout
    assert (podere.folder / "m1.json").read_bytes() == (podere.folder / "m3.json").read_bytes()
    podere.write("other.csv", "x,when\n0,01/09/2026\n0,31/03/2026\n")
    podere.done("predict", "m1.json", "other.csv", "-o", "p.csv")
    assert (pd.read_csv(podere.folder / "p.csv", header=None).iloc[:, -1] > 0.5).tolist() == [True, False]
    podere.write("numbers.csv", "x,when\n0,20454\n")
    message = podere.refused("predict", "m1.json", "numbers.csv", "-o", "p.csv")
    assert "column 'when' (position 1): '20454' is none of the dates of this column, such as 2026-01-31" in message


def test_dates_may_have_their_parts_as_features(podere):
    days = pd.date_range("2026-01-01 06:30", periods=300, freq="29H")
    frame = pd.DataFrame({"when": days.strftime("%d.%m.%Y %H:%M"), "x": 1.0})
    frame["y"] = (days.dayofweek >= 5).astype(int)
    frame.loc[7, "when"] = None
    frame.to_csv(podere.folder / "t.csv", index=False)
    at = days.delete(7)
    check(podere, "t.csv", pd.DataFrame({
        "when": [(day - DAYS) / pd.Timedelta(days=1) for day in at] + [np.nan], "x": 1.0, "y": frame["y"],
        **{f"when.{part}": [*getattr(at, name), np.nan] for part, name in [
            ("year", "year"), ("month", "month"), ("day", "day"), ("weekday", "dayofweek")]},
        "when.hour": [day.hour + day.minute / 60 for day in at] + [np.nan]}), "--date-parts")
    for executors in (1, 3):
        for extra in ([], ["--low-memory"]):
            podere.done("train", "gbt", "t.csv", "--date-parts", "--learning-rate", 1, "--trees", 3, "-o", "m.json", "--executors", executors, *extra)
            assert json.loads(podere.done("evaluate", "m.json", "t.csv", "--json").stdout)["accuracy"] > 0.99
            text = (podere.folder / "m.json").read_bytes()
            assert text == (podere.folder / "first.json").read_bytes() if (podere.folder / "first.json").exists() else \
                (podere.folder / "first.json").write_bytes(text)
    # Another order and another form; the model asks for the parts.
    other = pd.DataFrame({"x": 1.0, "when": days.strftime("%Y-%m-%d %H:%M"), "y": frame["y"]})
    other.drop(index=7).to_csv(podere.folder / "o.csv", index=False)
    assert json.loads(podere.done("evaluate", "m.json", "o.csv", "--json").stdout)["accuracy"] > 0.99


def test_a_doubtful_date_is_refused_with_the_options_that_decide(podere):
    podere.write("t.csv", "when,y\n" + "".join(f"0{1 + i % 9}/0{1 + i % 5}/2026,{i % 2}\n" for i in range(30)))
    message = podere.refused("train", "gbt", "t.csv", "-o", "m.json")
    assert message.endswith("choose --day-first or --month-first, or take texts as categories with --categorical")
    assert "t.csv: column 'when' may hold dates such as 31/01/2026 or dates such as 01/31/2026" in \
        podere.done("describe", "t.csv").stdout
    days = described(podere, "t.csv", "--day-first")["when"], described(podere, "t.csv", "--month-first")["when"]
    texts = pd.read_csv(podere.folder / "t.csv")["when"]
    for found, day_first in zip(days, (True, False)):
        assert found["maximum"] == (pd.to_datetime(texts, dayfirst=day_first).max() - DAYS).days


def test_categories_are_found_where_that_is_wanted(podere):
    podere.write("t.csv", "id,town,x,y\n" + "".join(f"k{i},{'Rome' if i % 3 else 'Bari'},{i % 7},{int(i % 3 == 0)}\n"
                                                     for i in range(300)))
    assert "--categorical id,town (or auto)" in podere.refused("train", "gbt", "t.csv", "-o", "m.json")
    for command in ("gbt", "nn"):
        out = podere.done("train", command, "t.csv", "--categorical", "auto", "-o", "m.json", "--validation", "t.csv").stdout
        assert "t.csv: columns of few different texts are taken as categories: 'town'\n" in out
        assert "t.csv: column id has too many different texts for categories and is left out" in out
        facts = json.loads(podere.done("evaluate", "m.json", "t.csv", "--json").stdout)
        assert facts["accuracy"] == 1


def test_a_text_among_numbers_is_no_category_until_it_is_named(podere):
    podere.write("t.csv", "y,cylinders,fuel\n" + "".join(f"{i % 2},{'rotary' if i == 50 else 4 + i % 3},f{i % 2}\n" for i in range(60)))
    line = podere.refused("train", "gbt", "t.csv", "--categorical", "auto", "-o", "m.json")
    assert "'rotary' is neither a number" in line and "take texts as categories with --categorical auto,cylinders, or" in line, line
    trained = podere.done("train", "gbt", "t.csv", "--categorical", "auto,cylinders", "-o", "m.json", "--json")
    assert json.loads(trained.stdout)["features"] == 2


def test_labels_of_every_kind_come_back_as_they_were(podere):
    random = np.random.default_rng(3)
    x = random.normal(size=300).round(4)
    for labels, objective in [(np.where(x > 0, "2026-02-01", "2026-01-01"), "logistic"),
                              (np.where(x > 0, "20 %", "10 %"), "logistic"), (np.where(x > 0, "on", "off"), "logistic"),
                              ([f"{value:.3f}".replace(".", ",") for value in x], "squared-error")]:
        pd.DataFrame({"x": x, "target": labels}).to_csv(podere.folder / "t.csv", index=False, sep=";")
        facts = json.loads(podere.done("train", "gbt", "t.csv", "--trees", 20, "-o", "m.json", "--json").stdout)
        assert facts["objective"] == objective
        facts = json.loads(podere.done("evaluate", "m.json", "t.csv", "--json").stdout)
        if objective == "logistic":
            podere.done("predict", "m.json", "t.csv", "--as", "class", "-o", "p.csv")
            predicted = pd.read_csv(podere.folder / "p.csv", header=None, dtype=str)[0]
            expected = pd.Series(labels).str.removesuffix(" %")
            assert facts["accuracy"] == (predicted == expected).mean() > 0.95
        else:
            assert facts["root_mean_squared_error"] < 0.5


BAD = [
    ("a,y\n1,0\n2x,1\n3,1\n", [], "t.csv:3: column 'a' (position 0): '2x' is neither a number"),
    ("when,y\n2026-01-01,0\n2026-02-30,1\n", [], "'2026-02-30' is none of the dates of this column"),
    ("a,y\n1,0\n2,1\n", ["--comment", "##"], "'##' is not one character"),
    ("a,y\n1,0\n2,1\n", ["--comment", "a"], "comments cannot begin with 'a'"),
    ("a,y\n1,0\n2,1\n", ["--decimal", ";"], "';' is not . or ,"),
    ("a,y\n1,0\n2,1\n", ["--day-first", "--month-first"], "--day-first excludes --month-first"),
    ("# a b\n1 0\n2 1\n", [], "leave comments out with --comment '#'"),
]


@pytest.mark.parametrize("text, options, message", BAD)
def test_what_cannot_be_read_is_refused_with_what_to_do(podere, text, options, message):
    podere.write("t.csv", text)
    assert message in podere.refused("train", "gbt", "t.csv", "--label", "y", "-o", "m.json", *options)


COLUMNS = pathlib.Path(__file__).parents[1] / "data/columns"


def test_zeros_behind_gzip_data_count_for_nothing(podere):
    text = "a,b,y\n" + "".join(f"{i},{i * 7 % 11},{i % 2}\n" for i in range(20000))
    podere.write("plain.csv", text)
    half, rest = text[:70000].encode(), text[70000:].encode()
    (podere.folder / "padded").write_bytes(gzip.compress(half) + bytes(70000) + gzip.compress(rest) + bytes(512))
    assert gzip.decompress((podere.folder / "padded").read_bytes()) == text.encode()
    podere.done("train", "gbt", "plain.csv", "--label", "y", "--trees", 2, "-o", "p.json")
    for executors in (1, 3):
        podere.done("train", "gbt", "padded", "--label", "y", "--trees", 2, "-o", "q.json", "--executors", executors)
        assert (podere.folder / "q.json").read_bytes() == (podere.folder / "p.json").read_bytes()
    (podere.folder / "followed").write_bytes(gzip.compress(text.encode()) + bytes(512) + b"xx")
    assert "the gzip data are damaged" in podere.refused("describe", "followed")


def test_whole_numbers_that_float32_rounds_are_reported(podere):
    rows = "".join(f"{1700000000 + i},{i},{2**24 - i},{123456789 + i}.5,{'' if i % 3 else 20000001 + 2 * i}.0,{i % 2}\n".replace(",.0,", ",,")
                   for i in range(3000))
    podere.write("t.csv", "when,x,near,real,id,y\n" + rows)
    pd.read_csv(podere.folder / "t.csv").to_csv(podere.folder / "frame.csv", index=False)
    found = [{"column": "when", "step": 128}, {"column": "id", "step": 2}]
    for options in ((), ("--executors", 2), ("--executors", 5), ("--low-memory",), ("--executors", 3, "--low-memory")):
        facts = json.loads(podere.done("train", "gbt", "t.csv", "--label", "y", "--trees", 1, "-o", "m.json", "--json", *options).stdout)
        assert facts["files"][0]["rounded"] == found, options
    said = podere.done("describe", "t.csv").stdout
    assert "t.csv: column when holds whole numbers beyond 2^24, which float32 rounds, here to multiples of up to 128: " in said
    assert "column real holds" not in said and "column near holds" not in said
    kept = podere.done("train", "gbt", "t.csv", "--label", "y", "--categorical", "id", "--drop", "when", "--trees", 1, "-o", "m.json").stdout
    assert "beyond 2^24" not in kept
    for name in ("table.csv", "zstd.parquet", "plain.parquet"):
        files = json.loads(podere.done("describe", COLUMNS / name, "--json", "--executors", 2).stdout)["files"]
        assert files[0]["rounded"] == [{"column": "small", "step": 128}], name


def test_rows_without_a_label_are_left_out_where_that_is_wanted(podere):
    labels = [("", "yes", "no")[0 if i % 7 == 3 or 1000 <= i < 3500 else 1 + i % 2] for i in range(6000)]
    lines = [f"{i * 37 % 101},{label}\n" for i, label in enumerate(labels)]
    podere.write("some.csv", "x,y\n" + "".join(lines))
    podere.write("kept.csv", "x,y\n" + "".join(line for line, label in zip(lines, labels) if label))
    n = labels.count("")
    line = podere.refused("train", "gbt", "some.csv", "--label", "y", "-o", "m.json", "--executors", 2)
    assert line.endswith(f"some.csv: the label 'y' is missing in {n} of 6000 rows, first in row 3 (from 0): leave out such "
                         "rows with --drop-unlabeled, in Python drop_unlabeled=True"), line
    options = ("--label", "y", "--trees", 3)
    podere.done("train", "gbt", "kept.csv", *options, "-o", "kept.json")
    wanted = (podere.folder / "kept.json").read_bytes()
    for executors in (1, 2, 3, 5):
        for low in ((), ("--low-memory",)):
            printed = podere.done("train", "gbt", "some.csv", *options, "--drop-unlabeled", *low, "--executors", executors, "-o", "m.json").stdout
            assert f"some.csv: {n:,} rows without a label are left out\n" in printed
            assert (podere.folder / "m.json").read_bytes() == wanted, (executors, low)
    facts = json.loads(podere.done("evaluate", "kept.json", "some.csv", "--drop-unlabeled", "--json").stdout)
    assert facts["rows"] == 6000 - n and facts["files"][0]["unlabeled_rows"] == n
    line = podere.refused("evaluate", "kept.json", "some.csv")
    assert f"the label 'y' is missing in {n} of 6000 rows" in line
    facts = json.loads(podere.done("train", "gbt", "kept.csv", *options, "--validation", "some.csv", "--drop-unlabeled", "-o", "m.json", "--json").stdout)
    assert facts["validation_rows"] == 6000 - n


def test_rows_without_a_label_are_those_of_files_of_columns_too(podere):
    options = ("--label", "color", "--drop", "kind", "--trees", 2, "--drop-unlabeled")
    models = set()
    for name in ("table.csv", "zstd.parquet", "encodings.parquet"):
        for extra in ((), ("--executors", 3), ("--low-memory", "--executors", 2)):
            facts = json.loads(podere.done("train", "gbt", COLUMNS / name, *options, *extra, "-o", "m.json", "--json").stdout)
            assert facts["rows"] == 33 and facts["files"][0]["unlabeled_rows"] == 7
            models.add((podere.folder / "m.json").read_bytes())
    assert len(models) == 1
    numbers = podere.write("n.csv", "x,price\n1,2.5\n2,\n3,4.5\n")
    line = podere.refused("train", "gbt", numbers, "--label", "price", "-o", "m.json")
    assert "the label 'price' is missing in 1 of 3 rows, first in row 1 (from 0)" in line
    nothing = podere.write("nothing.csv", "x,y\n1,\n2,\n")
    for low in ((), ("--low-memory",)):
        line = podere.refused("train", "gbt", nothing, "--label", "y", "--drop-unlabeled", *low, "-o", "m.json")
        assert line.endswith("nothing.csv: no row has a label in column 'y': choose another with --label")
    assert "there is no label by which rows could be left out" in podere.refused("describe", numbers, "--drop-unlabeled")


def test_a_plain_number_decides_what_a_comma_means(podere):
    podere.write("t.csv", 'a,b\n1.5,0\n2,1\n"1,234",0\n')
    check(podere, "t.csv", pd.DataFrame({"a": [1.5, 2, 1234], "b": [0, 1, 0]}))
    assert "column a holds numbers with a comma every three digits\n" in podere.done("describe", "t.csv", "--executors", 2).stdout
    podere.write("u.csv", 'a,b\n2,0\n3,1\n"1,234",0\n')
    assert "none of its fields decides: choose --decimal , or --decimal ." in podere.done("describe", "u.csv").stdout
    facts = json.loads(podere.done("describe", "u.csv", "--json").stdout)["columns"][0]
    assert (facts["kind"], facts["minimum"], facts["maximum"], facts["missing"], facts["texts"]) == ("text", 2, 3, 0, 1)
    podere.write("v.csv", 'a,b\n1.5,0\n"1,25",1\n"1,234",0\n')
    assert "not numbers: 'a' (1 of 3 rows)" in podere.refused("train", "gbt", "v.csv", "--label", "b", "-o", "m.json")


def test_the_line_that_names_the_delimiter_for_excel_is_no_row(podere):
    for line in ("sep=;\n", "sep=;\r\n", "\ufeffsep=;\r\n"):
        podere.write("t.csv", line + "a;b\n1,5;2\n3;x\n")
        check(podere, "t.csv", pd.DataFrame({"a": [1.5, 3]}), "--columns", "a")
        assert "t.csv:4: column 'b' (position 1): 'x' is neither" in podere.refused("train", "gbt", "t.csv", "--label", "a", "-o", "m.json")


def test_dates_of_the_first_thousand_years_are_those_of_files_that_say_so(podere):
    np.savez(podere.folder / "t.npz", when=np.array(["0001-01-01", "2026-02-03"], "M8[D]"), y=np.array([0, 1]))
    when = described(podere, "t.npz")["when"]
    assert when["kind"] == "date" and when["minimum"] == -719162 and when["maximum"] == 20487
    podere.write("t.csv", "when,y\n2026-02-03,1\n0026-02-03,0\n")
    assert "t.csv:3: column 'when' (position 0): '0026-02-03' is none of the dates" in podere.refused("train", "gbt", "t.csv", "--label", "y", "-o", "m.json")


def test_a_million_columns_take_seconds(podere):
    n = 300_000
    podere.write("wide.csv", "\n".join((",".join(f"c{i}" for i in range(n)), ",".join(["1"] * n), ",".join(["0"] * n))) + "\n")
    facts = json.loads(podere.done("train", "gbt", "wide.csv", "--label", "c0", "--trees", 1, "-o", "m.json", "--json", timeout=60).stdout)
    assert facts["features"] == n - 1


def test_a_message_has_the_reason_why_no_feature_is_left(podere):
    podere.write("t.csv", "id,y\n" + "".join(f"n{i},{i % 2}\n" for i in range(50)))
    line = podere.refused("train", "gbt", "t.csv", "--label", "y", "--categorical", "auto", "-o", "m.json")
    assert line.endswith("no feature is left: too many texts differ for categories in 'id'; to take a column all the same: "
                         "--categorical with its name")


@pytest.mark.parametrize(("begin", "words"), [
    (b"root\0\0\xf3\x14" + bytes(60), "a ROOT file, allowed is text, plain or packed: save it as CSV, as pandas does: podere.read_root"),
    (b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(90), "a MATLAB file"),
    (b"Obj\x01" + bytes(50), "an Avro file"), (b"\x1f\x9d\x90" + bytes(50), "packed with compress"),
    (b"@relation x\n@attribute a numeric\n@data\n1\n", "an ARFF file"), (b"<?xml version='1.0'?><a/>", "an XML file"),
    (b"<table border=1><tr><td>1</td></tr></table>", "an HTML file"), (b"%PDF-1.4\n", "a PDF file"), (b'[{"a":1}]', "JSON")])
def test_files_of_other_programs_are_named(podere, begin, words):
    (podere.folder / "other").write_bytes(begin)
    assert f"other: is {words}" in podere.refused("describe", "other")
