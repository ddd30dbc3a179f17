"""Small and odd CSV files beside pandas: whether the first line names the columns, and what is read then."""
import gzip
import uuid

import numpy
import pandas
import pytest

import podere

# Each text with what its first line is found to be: "names", "row", or None where Podere refuses to guess.
CASES = {
    "names": ("a,b,c\n1,2,3\n4,5,6\n", "names"),
    "quoted names": ('"a","b, c"\n"1","2"\n', "names"),
    "names behind a byte order mark": ("\ufeffa,b\n1,2\n", "names"),
    "CRLF": ("a,b\r\n1,2\r\n", "names"),
    "one name": ("a\n1\n2\n", "names"),
    "one without a name": (",a\n0,5\n1,6\n", "names"),
    "names with a word for missing among them": ("RI,NA,Mg\n1.5,13,4\n1.25,12,3\n", "names"),
    "names over missing values": ("a,b\n,NA\n1,2\n", "names"),
    "years": ("id,2019,2020,2021\n7,10,20,30\n", "names"),
    "pandas without names": ("0,1,2\n0.5,1.25,-2.5\n3.5,4.5,5.5\n", "names"),
    "pandas without names, with index": (",0,1,2\n0,7,8,9\n1,4,5,6\n", "names"),
    "semicolons": ("a;b\n1;2\n", "names"),
    "tabs": ("a\tb\n1\t2\n", "names"),
    "exponents and infinities": ("a,b\n1e5,inf\n-1e-5,-inf\n", "names"),
    "numbers": ("1,2,3\n4,5,6\n", "row"),
    "quoted numbers": ('"1","2"\n"3","4"\n', "row"),
    "one row": ("1,2,3\n", "row"),
    "one column": ("5\n6\n", "row"),
    "exponents first": ("1e5,inf\n2,3\n", "row"),
    "missing and numbers": (",1.5,2\n3,3,4\n", "row"),
    "NA and numbers": ("NA,1.5,2\n3,3,4\n", "row"),
    "negative": ("-1,0,1\n2,3,4\n", "row"),
    "two numbers from 0 over whole ones": ("0,1\n1,0\n", "row"),
    "a text over a number beside a number over a number": ("x,1.5,2\n3,3,4\n", None),
    "whole numbers below 0,1": ("0,1\n3,4\n", None),
    "whole numbers below 0": ("0\n5\n6\n", None),
    "whole numbers below 0,1,2": ("0,1,2\n3,4,5\n", None),
    "N/A over a number": ("N/A,1.5,2\n3,3,4\n", "row"), "<NA> over a number": ("<NA>,1.5,2\n3,3,4\n", "row"),
    "whole numbers below ,0,1,2": (",0,1,2\n7,4,5,6\n", None),
    "a word that is not known for missing": ("unknown,5\n3,4\n", None),
    "a text over a number beside a date": ("2020-01-01,x\n2020-01-02,5\n", None),
    "one line of both": ("x,1\n", None),
}
# What is a row, but not of numbers: refused with line 1, where a silent reading would lose the row.
ROWS_OF_TEXT = {
    "dash": "-,1.5\n3,4\n",
    "identifier": "id7,1.5\nid8,2\n",
    "person": "Ann,3\nBob,4\n",
    "hexadecimal": "0x1f,3\n0xff,4\n",
}


@pytest.fixture(scope="module", params=[1, 3])
def session(request):
    with podere.Session(executors=request.param, cores=1, progress=False) as s:
        yield s


def write(folder, text, packed):
    path = folder / (uuid.uuid4().hex + ".csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_a_first_line_is_read_as_pandas_reads_it_when_asked_or_refused(session, tmp_path, case, packed):
    text, expected = CASES[case]
    path = write(tmp_path, text, packed)
    if expected is None:
        with pytest.raises(ValueError, match="may name the columns or be a row.*choose with header=True .names. or header=False"):
            session.read_csv(path)
        assert session.read_csv(path, header=False, missing=["", "x", "unknown", "2020-01-01", "2020-01-02"]).n_rows \
            == len(text.splitlines())
        return
    table = session.read_csv(path)
    assert table.first_line == expected
    assert f"first line read as {'names' if expected == 'names' else 'a row'}" in repr(table)
    frame = pandas.read_csv(path, header=0 if expected == "names" else None, sep=";" if ";" in text else "\t" if "\t" in text
                            else ",", compression="gzip" if packed else None, encoding="utf-8-sig", dtype="float32")
    assert table.n_rows == len(frame)
    if frame.columns[0] == "Unnamed: 0":
        frame = frame.iloc[:, 1:]  # an index is left out
    if expected == "names":
        assert table.features == list(frame.columns)
    numpy.testing.assert_array_equal(table.to_pandas().to_numpy("float32"), frame.to_numpy("float32"))


@pytest.mark.parametrize("case", ROWS_OF_TEXT)
def test_a_row_that_begins_with_text_is_not_lost(session, tmp_path, case):
    path = write(tmp_path, ROWS_OF_TEXT[case], False)
    with pytest.raises(ValueError, match=r":1: column 'f0' \(position 0\).*neither a number.*drop=\['f0'\]"):
        session.read_csv(path)
    table = session.read_csv(path, drop=["f0"])
    assert (table.n_rows, table.first_line, table.features[0]) == (2, "row", "f1")


def test_a_row_that_begins_with_a_date_is_one(session, tmp_path):
    table = session.read_csv(write(tmp_path, "2020-01-01,1.5,2\n2020-01-02,3,4\n", False))
    assert (table.n_rows, table.first_line) == (2, "row")
    assert table.to_pandas()["f0"].tolist() == [18262, 18263]


def test_what_is_given_is_not_guessed(session, tmp_path):
    path = write(tmp_path, "0,1\n2,3\n", False)
    assert session.read_csv(path, header=True).first_line is None
    assert session.read_csv(path, header=True).features == ["0", "1"]
    assert session.read_csv(path, header=False).n_rows == 2


def test_columns_of_texts_are_named_at_once_and_dropped(session, tmp_path):
    path = write(tmp_path, "id,when,x,y\na1,2020-01-01,1.5,1\na2,2020-01-02,2.5,0\n", False)
    with pytest.raises(ValueError, match=r"'id' \(2 of 2 rows\); leave out with drop=\['id'\]"):
        session.read_csv(path, label="y")
    assert session.read_csv(path, label="y", drop=["id", 1]).features == ["x"]
    assert session.read_csv(path, label="y", drop=["id"]).features == ["when", "x"]
    with pytest.raises(ValueError, match="no dropped column 'nothing'"):
        session.read_csv(path, label="y", drop=["nothing"])
    with pytest.raises(TypeError, match="drop is 'id', allowed is a list"):
        session.read_csv(path, drop="id")
