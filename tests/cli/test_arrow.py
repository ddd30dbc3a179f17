"""Arrow files and streams: the table is that of the same rows as CSV. tests/data/columns/make_arrow.py made the files."""

import gzip
import hashlib
import json
import pathlib
import sys

import pytest

COLUMNS = pathlib.Path(__file__).parents[1] / "data" / "columns"
ARROW = COLUMNS / "arrow"
ROWS = 1500

sys.path.insert(0, str(COLUMNS))
import make_arrow  # noqa: E402

LEFT_OUT = {"rows.arrow": [], "coded.arrow": [], "other.arrows": [], "pandas.feather": ["none", "price", "when"], "polars.ipc": ["none"]}


def as_csv(podere, left_out=(), n=ROWS):
    columns = make_arrow.frame(n)
    for name in left_out:
        del columns[name]
    return podere.write("rows.csv", make_arrow.csv_text(columns))


def described(podere, file, *options):
    """What describe says of the columns, but for the digits of numbers: CSV has those that were written."""
    facts = json.loads(podere.done("describe", file, "--json", *options).stdout)
    columns = [{key: value for key, value in column.items() if key != "examples"} for column in facts["columns"]]
    return facts["rows"], columns


@pytest.mark.parametrize("name", LEFT_OUT)
def test_the_columns_are_described_as_those_of_the_same_rows_as_csv(podere, name):
    csv = as_csv(podere, LEFT_OUT[name])
    found = described(podere, ARROW / name, "--label", "label")
    assert found == described(podere, csv, "--label", "label")
    assert found[0] == ROWS and len(found[1]) == 13 - len(LEFT_OUT[name])


@pytest.mark.parametrize("name", LEFT_OUT)
@pytest.mark.parametrize("options", [["--categorical", "town,code"], ["--categorical", "town", "--date-parts"],
                                     ["--drop", "town", "--low-memory"],
                                     ["--drop", "single,real", "--categorical", "town,code,day,time,large"]])
def test_the_model_is_that_of_the_same_rows_as_csv_on_any_number_of_executors(podere, name, options):
    csv = as_csv(podere, LEFT_OUT[name])
    digests = {}
    for file in (csv, ARROW / name):
        for executors in (1, 3):
            podere.done("train", "gbt", file, "--label", "label", *options, "--trees", 5, "--depth", 4, "-o", "model.json",
                        "--executors", executors, "--cores", 2)
            digests[file, executors] = hashlib.sha256((podere.folder / "model.json").read_bytes()).hexdigest()
    assert len(set(digests.values())) == 1, digests
    # A model of one takes the rows of the other.
    measured = [json.loads(podere.done("evaluate", "model.json", file, "--rows", "5:905", "--json").stdout)
                for file in (csv, ARROW / name)]
    assert measured[0]["log_loss"] == measured[1]["log_loss"]


@pytest.mark.parametrize("name", ["small.arrow", "small_packed.arrow", "small_views.arrow", "legacy.arrow", "legacy.arrows"])
def test_files_and_streams_of_other_writers_are_read(podere, name):
    assert described(podere, ARROW / name) == described(podere, as_csv(podere, n=9))


@pytest.mark.parametrize("name, towns", [("delta.arrows", ["Rome"] * 4 + ["Rome", "Bari"] * 2 + ["Rome", "Bari", "Pisa", "Rome"]),
                                         ("replaced.arrows", ["Rome"] * 4 + ["Bari", "Pisa"] * 2)])
def test_dictionaries_grow_and_are_replaced_within_a_stream(podere, name, towns):
    csv = podere.write("t.csv", "town,x\n" + "".join(f"{town},{i % 4}\n" for i, town in enumerate(towns)))
    for rows in ("0:", "4:", "2:6"):
        assert described(podere, ARROW / name, "--rows", rows) == described(podere, csv, "--rows", rows)
    for executors in (1, 2):
        for i, file in enumerate((csv, ARROW / name)):
            podere.done("train", "gbt", file, "--label", "town", "--trees", 1, "-o", f"{i}.json", "--executors", executors)
        assert (podere.folder / "0.json").read_bytes() == (podere.folder / "1.json").read_bytes()


def test_an_index_of_pandas_is_left_out_unless_it_is_asked_for(podere):
    assert "id" not in [column["name"] for column in described(podere, ARROW / "pandas.feather")[1]]
    (column,) = described(podere, ARROW / "pandas.feather", "--columns", "id")[1]
    assert (column["minimum"], column["maximum"]) == (5, 64)


def test_columns_that_no_table_can_have_are_named_and_can_be_left_out(podere):
    line = podere.refused("describe", ARROW / "nested.arrow")
    for text in ("'list' (list<double>)", "'struct' (struct<a: dictionary<string>, b: int64>)", "'interval' (interval)"):
        assert text in line
    others = line.split("--drop ")[1].split(", or")[0]
    rows, columns = described(podere, ARROW / "nested.arrow", "--drop", others)
    assert [(column["name"], column["different"]) for column in columns] == [("wait", 1), ("text", 1), ("x", 6)]
    assert rows == 6 and columns[0]["minimum"] == 0.5


def test_the_format_is_known_by_the_first_bytes_and_by_the_name(podere):
    for name, kept in (("small.arrow", "rows.dat"), ("other.arrows", "rows"), ("legacy.arrows", "rows.arrows")):
        (podere.folder / kept).write_bytes((ARROW / name).read_bytes())
        assert described(podere, kept)[0] in (9, ROWS)
    (podere.folder / "legacy").write_bytes((ARROW / "legacy.arrows").read_bytes())
    assert described(podere, "legacy", "--format", "arrow")[0] == 9


@pytest.mark.parametrize("content, words", [
    (b"FEA1" + bytes(20), "is of the first version of Feather; write it again with version=2"),
    ((ARROW / "small.arrow").read_bytes()[:-1], "the file is cut or damaged: it does not end with ARROW1"),
    ((ARROW / "other.arrows").read_bytes()[:-2000], "the file is cut: a message has"),
    (gzip.compress((ARROW / "small.arrow").read_bytes(), mtime=0), "is packed as a whole: unpack it"),
    (b"", "is neither a file nor a stream of Arrow"),
    (b"a,b\n1,2\n", "the file is cut or damaged"),
])
def test_what_cannot_be_read_is_refused_with_what_to_do(podere, content, words):
    (podere.folder / "rows.arrow").write_bytes(content)
    line = podere.refused("describe", "rows.arrow")
    assert line.startswith("podere: rows.arrow: ") and words in line


def test_options_of_text_are_refused(podere):
    line = podere.refused("describe", ARROW / "small.arrow", "--delimiter", ";")
    assert "delimiter cannot be chosen: it is a file of columns" in line
