"""What Session.read_csv takes columns for, and the parameters that decide it."""
import pathlib
import warnings

import numpy
import pandas
import pytest
import scipy.sparse

import podere


@pytest.fixture(scope="module", params=[1, 2])
def session(request):
    with podere.Session(executors=request.param, cores=1, progress=False) as s:
        yield s


def test_columns_say_what_they_were_taken_for(session, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# log\n;when;price;ok;town;note;y\n" + "".join(
        f"{i};{1 + i % 28:02}.02.2026 06:00;{i},5;{'yes' if i % 2 else 'no'};{'Rome' if i % 3 else 'Bari'};n{i};{i % 2}\n"
        for i in range(50)))
    table = session.read_csv(path, label="y", categorical="auto", comment="#", date_parts=True)
    assert table.features == ["when", "price", "ok", "town", "when.year", "when.month", "when.day", "when.weekday", "when.hour"]
    assert table.categorical == ["town"]
    assert table.read_as == {
        "when": "dates: days since 1970-01-01", "price": "numbers with a decimal comma", "ok": "booleans: 1 where true",
        "town": "categories", "f0": "left out, an index without a name",
        "note": "left out, too many different texts for categories"}
    assert "'when': dates: days since 1970-01-01" in repr(table) and "'when': dates" in table._repr_html_()
    frame = table.to_pandas()
    assert frame["price"].tolist() == [i + 0.5 for i in range(50)] and (frame["when.hour"] == 6).all()
    days = (pandas.Timestamp("2026-02-01 06:00") - pandas.Timestamp("1970-01-01")) / pandas.Timedelta(days=1)
    assert frame["when"][0] == numpy.float32(days)
    assert session.fit(podere.GBTClassifier(n_estimators=20), table).evaluate(table)["accuracy"] > 0.9
    (tmp_path / "plain.csv").write_text("a,b\n1,2\n")
    assert session.read_csv(tmp_path / "plain.csv").read_as == {}


def test_what_is_in_doubt_is_refused_with_parameters(session, tmp_path):
    (tmp_path / "d.csv").write_text("when,y\n01/02/2026,1\n02/03/2026,0\n")
    with pytest.raises(ValueError, match="choose day_first=True or day_first=False, or take texts as categories with categorical$"):
        session.read_csv(tmp_path / "d.csv")
    assert session.read_csv(tmp_path / "d.csv", day_first=True).to_pandas()["when"][0] == 20485
    (tmp_path / "n.csv").write_text("a;b\n1,234;1\n2,345;0\n")
    with pytest.raises(ValueError, match=r"choose decimal=',' or decimal='.', or take"):
        session.read_csv(tmp_path / "n.csv")
    assert session.read_csv(tmp_path / "n.csv", decimal=".").to_pandas()["a"][0] == 1234
    (tmp_path / "c.csv").write_text("# a b\n1 0\n2 1\n")
    with pytest.raises(ValueError, match="leave comments out with comment='#'$"):
        session.read_csv(tmp_path / "c.csv")
    with pytest.raises(ValueError, match="comment"):
        session.read_csv(tmp_path / "d.csv", comment="##")


def test_names_are_those_of_a_file_without_any_or_replace_them(session, tmp_path):
    (tmp_path / "bare.csv").write_text("1,2.5,0\n3,4.5,1\n")
    (tmp_path / "named.csv").write_text("x,z,y\n1,2.5,0\n3,4.5,1\n")
    for name, header in ("bare.csv", None), ("bare.csv", False), ("named.csv", None), ("named.csv", True):
        table = session.read_csv(tmp_path / name, label="y", names=["a", "b", "y"], header=header)
        assert table.features == ["a", "b"] and table.to_pandas()["b"].tolist() == [2.5, 4.5]
    with pytest.raises(ValueError, match="2 names are given, and the line has 3 fields"):
        session.read_csv(tmp_path / "bare.csv", names=["a", "b"])


def test_files_of_columns_say_themselves_what_is_in_them(session, tmp_path):
    data = pathlib.Path(__file__).parents[1] / "data/columns"
    text = session.read_csv(data / "table.csv", label="kind", categorical=["color"]).to_pandas()
    for file in ("zstd.parquet", "pandas.parquet", "enc*.parquet"):
        table = session.read(data / file, "kind", categorical=["color"])
        assert table.features == [name for name in text if name != "kind"] and table.read_as["flag"] == "booleans: 1 where true"
        pandas.testing.assert_frame_equal(table.to_pandas(), text)
    assert session.read(data / "kinds.parquet", drop=["list", "struct", "map", "bytes", "beyond"]).shape == (3, 6)
    assert session.read(data / "zstd.parquet", categorical="auto", missing=["7.5"], date_parts=True).to_pandas()["same"].isna().all()
    with pytest.raises(ValueError, match="'list' .list., 'struct' .struct., .*leave out with drop="):
        session.read(data / "kinds.parquet")
    for part in ("a", "b"):
        (tmp_path / f"part={part}").mkdir()
        (tmp_path / f"part={part}/x.csv").write_text("u,v\n1,2\n3,4\n")
    table = session.read(tmp_path, categorical="auto")
    assert table.to_pandas()["part"].tolist() == ["a", "a", "b", "b"] and table.read_as["part"] == "categories"
    assert session.read(tmp_path, drop=["part"]).shape == (4, 2)
    with pytest.raises(ValueError, match="no file fits this pattern"):
        session.read(tmp_path / "*.parquet")


def test_skiprows_leaves_out_what_is_above_the_table(session, tmp_path):
    path = tmp_path / "titled.csv"
    path.write_text("Measured in May,,,\n\na,b\n" + "".join(f"{i},{i % 2}\n" for i in range(9)))
    wanted = pandas.read_csv(path, skiprows=2)
    pandas.testing.assert_frame_equal(session.read_csv(path, skiprows=2).to_pandas(), wanted.astype("float32"), check_dtype=False)
    assert session.read_csv(path, skiprows=numpy.int64(3), names=["x", "y"]).shape == (9, 2)
    for skiprows in (None, 0):
        with pytest.raises(ValueError, match="titled.csv:1: .* leave out what is above the table with skiprows=2$"):
            session.read_csv(path, skiprows=skiprows)
    for skiprows, error in ((-1, ValueError), ([0, 1], TypeError), (True, TypeError), (12, ValueError)):
        with pytest.raises(error, match="skiprows"):
            session.read_csv(path, skiprows=skiprows)


def test_whole_numbers_that_float32_rounds_are_reported_of_arrays_too(session):
    ids, y = numpy.arange(123456789, 123456839), numpy.arange(50) % 2
    words = "whole numbers beyond 2^24, rounded to multiples of up to 8"
    frame = pandas.DataFrame({"x": y / 7, "id": ids})
    for X, name in ((frame, "id"), (frame[["id"]], "id"), (frame.to_numpy(), "f1"), (frame.astype({"id": "Int64"}), "id"),
                    (numpy.asfortranarray(frame), "f1"), (scipy.sparse.csr_matrix(frame.to_numpy()), "f1")):
        assert session.put(X, y).read_as == {name: words}
        with pytest.warns(UserWarning, match=f"feature '{name}' of X holds whole numbers beyond 2.24, which float32 rounds, here to multiples of up to 8"):
            podere.GBTClassifier(n_estimators=1).fit(X, y)
    for X in (frame.assign(id=ids + 0.5), frame.assign(id=ids.astype("float32")), frame.assign(id=ids // 16 * 16)):
        assert session.put(X, y).read_as == {}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            podere.GBTClassifier(n_estimators=1).fit(X, y)


def test_rows_without_a_label_and_rounded_numbers_are_reported(session, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x,y\n" + "".join(f"{123456789 + i},{i % 2},{'' if i % 5 == 3 else i % 2}\n" for i in range(50)))
    table = session.read_csv(path, label="y", drop_unlabeled=True)
    assert table.n_rows == 40 and session.read(path, "y", drop_unlabeled=True).n_rows == 40
    assert table.read_as == {"id": "whole numbers beyond 2^24, rounded to multiples of up to 8"}
    some = session.read_csv(path, label="y")
    with pytest.raises(ValueError, match="or missing ones: .*rows without a label are left out where they are read, by drop_unlabeled=True"):
        session.fit(podere.GBTClassifier(n_estimators=2), some)
    with pytest.raises(ValueError, match=r"'y' is missing in 10 of 50 rows, first in row 3 \(from 0\): leave out such rows where they are read, by"):
        session.fit(podere.GBTRegressor(n_estimators=2), some)
    session.fit(podere.GBTClassifier(n_estimators=2), table)
