"""HDF5 files of h5py, pandas, netCDF and MATLAB: the same model as from the same rows in CSV; keys; what is no table."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import pytest
from conftest import PODERE, Podere, model_of

DATA = pathlib.Path(__file__).parents[1] / "data/columns"
FILES = DATA / "hdf5"
WHOLE = ["plain", "gzip", "lzf", "zstd", "blosc", "lz4", "enumerated", "records", "pandas", "pandas_columns", "pandas_categories",
         "2_3_3_pandas", "2_3_3_pandas_columns", "2_3_3_pandas_categories"]
OPTIONS = ("--label", "kind", "--categorical", "color")


def trees_of(podere):
    return json.loads((podere.folder / "m.json").read_text())["model"]["trees"]


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    return model_of(Podere(tmp_path_factory.mktemp("wanted")), DATA / "table.csv", *OPTIONS)


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_makes_the_model_of_the_same_rows_in_csv(podere, wanted, name):
    for executors in (1, 3):
        assert model_of(podere, FILES / f"{name}.h5", *OPTIONS, executors=executors) == wanted, executors


def test_all_options_of_rows_and_columns_are_as_in_csv(podere):
    for options in (("--categorical", "auto", "--date-parts", "--label", "flag"), ("--label", "kind", "--columns", "when,same", "--missing", "7.5"),
                    ("--label", "whole", "--drop", "single,color,kind", "--rows", "7:33", "--objective", "squared-error"),
                    (*OPTIONS, "--low-memory"), (*OPTIONS, "--cores", 3)):
        assert len({model_of(podere, data, *options) for data in (DATA / "table.csv", FILES / "gzip.h5", FILES / "pandas.h5")}) == 1, options


def test_a_frame_of_numbers_in_the_fixed_format_and_its_group(podere):
    options = ("--label", "flag", "--drop", "color,kind")
    in_csv = model_of(podere, DATA / "table.csv", *options)
    for name in ("pandas_fixed", "2_3_3_pandas_fixed"):
        assert model_of(podere, FILES / f"{name}.h5", "--label", "flag") == in_csv
        assert model_of(podere, FILES / f"{name}.h5", "--label", "flag", "--key", "/deep/rows", executors=2) == in_csv
    assert "the data frame's index" in podere.done("describe", FILES / "pandas_fixed.h5").stdout


def test_texts_in_the_fixed_format_are_pickled(podere):
    import h5py
    import numpy

    with h5py.File(podere.folder / "texts.h5", "w") as file:  # as pandas 2.3 writes them
        frame = file.create_group("rows")
        frame.attrs.update({"pandas_type": numpy.bytes_("frame"), "nblocks": 1})
        frame.create_dataset("axis0", data=[b"color", b"kind"])
        frame.create_dataset("axis1", data=numpy.arange(3))
        frame.create_dataset("block0_items", data=[b"color", b"kind"])
        values = frame.create_dataset("block0_values", shape=(1,), dtype=h5py.vlen_dtype("u1"))
        values.attrs["PSEUDOATOM"] = numpy.bytes_("object")
    line = podere.refused("describe", "texts.h5")
    assert "the columns color, kind are pickled, as texts are in pandas' fixed format; write it by to_hdf(..., format=\"table\")" in line


def test_matrices_with_labels_and_matlab(podere):
    options = ("--label", "flag", "--columns", "real,single,whole,small,same")
    podere.done("train", "gbt", DATA / "table.csv", "--trees", 3, "-o", "m.json", *options)
    trees = trees_of(podere)
    for name, executors in (("matrix.h5", 1), ("matrix.h5", 3), ("matlab.mat", 1), ("matlab.mat", 3)):
        podere.done("train", "gbt", FILES / name, "--trees", 3, "-o", "m.json", "--label", "target", "--executors", executors)
        assert trees_of(podere) == trees, (name, executors)
    facts = podere.done("describe", FILES / "matrix.h5").stdout
    assert "meta is a group of arrays beside those that are read, and is left out (to read it instead: --key)" in facts and "single" in facts


def test_netcdf_has_missing_and_packed_numbers(podere):
    columns = {column["name"]: column for column in json.loads(podere.done("describe", FILES / "netcdf.nc", "--json").stdout)["columns"]}
    in_csv = {column["name"]: column for column in json.loads(podere.done("describe", DATA / "table.csv", "--json").stdout)["columns"]}
    for name in ("real", "single", "whole", "small", "same"):
        assert [columns[name][fact] for fact in ("minimum", "maximum", "mean", "missing")] == [in_csv[name][fact] for fact in ("minimum", "maximum", "mean", "missing")]
    assert in_csv["real"]["missing"] > 0
    packed = columns["packed"]
    assert (packed["minimum"], packed["maximum"], packed["missing"]) == (10.5, 29, 14)


def test_netcdf_has_a_fill_value_for_each_type_and_unsigned_numbers(podere):
    import h5py
    import numpy

    with h5py.File(podere.folder / "fill.nc", "w") as file:
        file.attrs["_NCProperties"] = "version=2"
        file["whole"] = numpy.array([65535, -32767, -2147483647, 4], "i4")
        file["real"] = numpy.array([65535, -32767, 9.9692099683868690e36, 4])
        file["named"] = numpy.array([1, 2, 3, 1e20], "f4")
        file["named"].attrs["missing_value"] = 1e20
        file["bytes"] = numpy.array([-1, 0, 1, -2], "i1")
        file["bytes"].attrs.update({"_Unsigned": "true", "_FillValue": numpy.int8(-2), "scale_factor": 2.0})
    facts = json.loads(podere.done("describe", "fill.nc", "--json").stdout)["columns"]
    found = {column["name"]: (column["minimum"], column["maximum"], column["missing"]) for column in facts}
    assert found == {"whole": (-32767, 65535, 1), "real": (-32767, 65535, 1), "named": (1, 3, 1), "bytes": (0, 510, 1)}


DAYS = 30
LATITUDE, LONGITUDE = range(-60, 60, 30), range(0, 360, 60)
LATITUDES, LONGITUDES = len(LATITUDE), len(LONGITUDE)


def write_netcdf(path, variables, latitude=LATITUDE, names=("time", "lat", "lon"), n_days=DAYS, units="degC", bounds=True):
    """As netCDF and the CF conventions have it: scales of dimensions, and the bounds of one. Shapes are transposed to the order of `names`."""
    import h5py

    with h5py.File(path, "w", track_order=True) as file:
        values = {"time": range(n_days), "lat": latitude, "lon": LONGITUDE}
        for name in names:
            file.create_dataset(name, data=values.get(name, values["lat"]), dtype="f4").make_scale(name)
        if bounds:
            file["time"].attrs["bounds"] = "time_edges"
            file["time_edges"] = [[i, i + 1] for i in range(n_days)]
        for name, field in variables.items():
            file.create_dataset(name, data=field)
            file[name].attrs.update({"units": units} if units else {})
            for place, of in enumerate(names[:field.ndim]):
                file[name].dims[place].attach_scale(file[of])


def field(seed=1, n_days=DAYS):
    import numpy

    return numpy.random.default_rng(seed).normal(size=(n_days, LATITUDES, LONGITUDES))


def facts_of(podere, *arguments):
    return json.loads(podere.done(*arguments, "--json").stdout)


def test_coordinates_are_left_out_of_tables_and_matrices(podere):
    import numpy

    write_netcdf(podere.folder / "sst.nc", {"sst": field()})
    out = podere.done("svd", "sst.nc", "--rank", 2, "--center").stdout
    assert "sst.nc: rows are 'time'; columns are 'sst' ('lat' 4 x 'lon' 6)\n" in out
    assert "sst.nc: coordinates are left out: 'time', 'time_edges0', 'time_edges1', 'lat', 'lon' (to take one: --columns, or --key for it alone)\n" in out
    facts = facts_of(podere, "svd", "sst.nc", "--rank", 2)
    numpy.testing.assert_allclose(facts["s"], numpy.linalg.svd(field().reshape(DAYS, -1), compute_uv=False)[:2], rtol=1e-12)
    assert [column["name"] for column in facts_of(podere, "describe", "sst.nc")["columns"]] == [f"pixel{i}" for i in range(1, 25)]
    assert "coordinates are left out" in podere.done("describe", "sst.nc", "--executors", 2).stdout
    names = [column["name"] for column in facts_of(podere, "describe", "sst.nc", "--columns", "time,pixel3")["columns"]]
    assert sorted(names) == ["pixel3", "time"]
    assert facts_of(podere, "svd", "sst.nc", "--columns", "time,pixel1", "--rank", 1)["columns"] == 2
    assert facts_of(podere, "describe", "sst.nc", "--key", "lat")["rows"] == LATITUDES
    assert facts_of(podere, "svd", "sst.nc", "--key", "time", "--rank", 1)["rows"] == DAYS
    podere.done("train", "linear", "sst.nc", "--label", "time", "-o", "m.json")


def test_a_file_of_coordinates_alone_is_a_table_of_them(podere):
    write_netcdf(podere.folder / "grid.nc", {}, names=("time",), bounds=False)
    assert facts_of(podere, "describe", "grid.nc")["columns"][0]["name"] == "time"


def test_several_fields_are_named_and_one_is_chosen_by_key(podere):
    write_netcdf(podere.folder / "both.nc", {"sst": field(1), "slp": field(2)})
    out = podere.done("svd", "both.nc", "--rank", 2).stdout
    assert "columns are 'sst' ('lat' 4 x 'lon' 6), 'slp' ('lat' 4 x 'lon' 6), side by side (for one alone: --key slp)" in out
    assert facts_of(podere, "svd", "both.nc", "--rank", 2)["columns"] == 48
    assert facts_of(podere, "svd", "both.nc", "--key", "sst", "--rank", 2)["columns"] == 24


def test_other_numbers_of_rows_are_named_with_a_way_out(podere):
    import h5py

    with h5py.File(podere.folder / "plain.h5", "w") as file:
        file["x"], file["z"], file["lat"] = field(), range(DAYS), LATITUDE
    line = podere.refused("svd", "plain.h5", "--rank", 1)
    assert "a matrix has numbers, and 1 column cannot be in it beside the others: 'lat' (4 rows, others have 30); leave it out with --drop" in line
    assert "or read one dataset alone with --key" in line


def test_fill_values_of_netcdf_are_known_by_its_dimensions(podere):
    import numpy

    x = numpy.arange(DAYS)
    fills = {"f4": 9.9692099683868690e36, "f8": 9.9692099683868690e36, "i2": -32767, "i4": -2147483647, "u2": 65535, "u4": 4294967295,
             "i8": -9223372036854775806, "u8": 18446744073709551614}
    columns = {kind: numpy.where(x == 3, numpy.array(fill, kind), x.astype(kind)) for kind, fill in fills.items()}
    columns["i1"] = numpy.where(x == 3, -127, x).astype("i1")
    write_netcdf(podere.folder / "fills.nc", columns, names=("time",))
    found = {column["name"]: column["missing"] for column in facts_of(podere, "describe", "fills.nc")["columns"]}
    assert found == {**dict.fromkeys(fills, 1), "i1": 0}


def test_attributes_of_numbers_may_be_texts(podere):
    import h5py
    import numpy

    with h5py.File(podere.folder / "packed.nc", "w") as file:
        file["x"] = numpy.array([100, 200, -9], "i2")
        file["x"].attrs.update({"scale_factor": numpy.bytes_("0.01"), "add_offset": " 20 ", "missing_value": "-9"})
    found = facts_of(podere, "describe", "packed.nc")["columns"][0]
    assert (found["minimum"], found["maximum"], found["missing"]) == (21, 22, 1)
    for name, value, words in (("scale_factor", "a hundredth", "its attribute scale_factor is the text 'a hundredth', allowed are numbers"),
                               ("add_offset", "", "its attribute add_offset is the text '', allowed are numbers"),
                               ("missing_value", ["-9", "-8"], "its attribute missing_value is none that can be read, allowed are numbers"),
                               ("scale_factor", [1.0, 2.0], "its attribute scale_factor has 2 numbers, allowed is one")):
        with h5py.File(podere.folder / "wrong.nc", "w") as file:
            file["x"] = numpy.array([100, 200, -9], "i2")
            file["x"].attrs[name] = value
        assert f"wrong.nc: has no array for a table: 'x': {words}" in podere.refused("describe", "wrong.nc")


@pytest.mark.parametrize(("other", "words"), [
    ({"latitude": LATITUDE[::-1]}, "where 'sst' lies along 'lat': from 30 to -60 (checksum"),
    ({"latitude": [-60, -31, 0, 30]}, "where 'sst' lies along 'lat': from -60 to 30 (checksum"),
    ({"units": "K"}, "the units of 'sst': K, and in years/1.nc: degC"),
    ({"names": ("time", "y", "lon")}, "the dimensions of 'sst': 'time', 'y', 'lon', and in years/1.nc: 'time', 'lat', 'lon'"),
    ({"variable": "tos"}, "what has dimensions: 'tos', and in years/1.nc: 'sst'"),
])
def test_files_of_other_grids_are_not_joined(podere, other, words):
    (podere.folder / "years").mkdir()
    write_netcdf(podere.folder / "years/1.nc", {"sst": field()})
    write_netcdf(podere.folder / "years/2.nc", {"sst": field(2, 9)}, n_days=9)
    assert facts_of(podere, "svd", "years", "--rank", 2)["rows"] == DAYS + 9
    variable = other.pop("variable", "sst")
    write_netcdf(podere.folder / "years/3.nc", {variable: field(3)}, **other)
    for command in (("svd", "years", "--rank", 2), ("describe", "years")):
        line = podere.refused(*command)
        assert line.startswith("podere: years/3.nc: ") and words in line and "years/1.nc" in line


def test_times_of_other_units_in_each_file_are_no_column(podere):
    import h5py

    (podere.folder / "years").mkdir()
    for year in (2001, 2002):
        write_netcdf(podere.folder / f"years/{year}.nc", {"sst": field(year)})
        with h5py.File(podere.folder / f"years/{year}.nc", "a") as file:
            file["time"].attrs["units"] = f"days since {year}-01-01"
    assert facts_of(podere, "svd", "years", "--rank", 2)["rows"] == 2 * DAYS
    words = "'time' (of other units in each file)"
    assert words in podere.refused("svd", "years", "--columns", "time,pixel1", "--rank", 1)
    assert "time" in podere.refused("train", "linear", "years", "--label", "time", "-o", "m.json")
    one = podere.done("svd", "years/2001.nc", "--columns", "time,pixel1", "--rank", 1)
    assert "2 columns" in one.stdout


def test_as_many_days_as_latitudes_in_one_file(podere):
    (podere.folder / "years").mkdir()
    write_netcdf(podere.folder / "years/1.nc", {"sst": field(1, LATITUDES)}, n_days=LATITUDES)
    write_netcdf(podere.folder / "years/2.nc", {"sst": field(2)})
    found = [facts_of(podere, "svd", "years", "--rank", 2, "--executors", n) for n in (1, 2, 3, 5)]
    assert {(facts["rows"], *facts["s"]) for facts in found} == {(DAYS + LATITUDES, *found[0]["s"])}
    assert "'lat' (not alike in all files)" in podere.refused("svd", "years", "--columns", "lat", "--rank", 1)


def test_files_without_dimensions_are_joined_by_position(podere):
    import h5py

    (podere.folder / "parts").mkdir()
    for part, name in enumerate(("a", "b")):
        with h5py.File(podere.folder / f"parts/{part}.h5", "w") as file:
            file[name] = field(part)
    assert facts_of(podere, "svd", "parts", "--rank", 2)["rows"] == 2 * DAYS


@pytest.mark.parametrize(("name", "begin", "words"), [
    ("old.nc", b"CDF\x01", "is NetCDF 3; make NetCDF 4 of it: nccopy -k nc4 IN.nc OUT.nc"),
    ("wide.nc", b"CDF\x05", "is NetCDF 3; make NetCDF 4 of it"),
    ("x.grb2", b"GRIB\0\0\x10\x02", "is GRIB; make NetCDF 4 of it: cdo -f nc4 copy IN OUT.nc"),
])
def test_other_formats_of_grids_are_named_with_what_converts_them(podere, name, begin, words):
    (podere.folder / name).write_bytes(begin + bytes(100))
    assert words in podere.refused("describe", name)
    assert words in podere.refused("svd", name, "--rank", 1)


@pytest.mark.parametrize("name", [".zgroup", "zarr.json"])
def test_a_folder_of_zarr_is_named(podere, name):
    (podere.folder / "z.zarr/sst").mkdir(parents=True)
    (podere.folder / "z.zarr" / name).write_text("{}")
    (podere.folder / "z.zarr/sst/0.0.0").write_bytes(bytes(100))
    assert "z.zarr: is Zarr; make NetCDF 4 of it in Python: xarray.open_zarr(FOLDER).to_netcdf(FILE)" in podere.refused("describe", "z.zarr")


def test_a_frame_of_many_blocks(podere):
    """Of block 10 and of the first column of block 1 the names begin alike."""
    import h5py
    import numpy

    rows = numpy.zeros(3, [("index", "i8"), ("values_block_1", "f8", 2), ("values_block_10", "i1", (1,))])
    rows["values_block_1"], rows["values_block_10"] = [[1, 2], [3, 4], [5, 6]], [[0], [1], [-1]]
    texts = numpy.zeros(2, [("index", "i8"), ("values", "S4")])
    texts["values"] = [b"one", b"two"]
    with h5py.File(podere.folder / "blocks.h5", "w") as file:  # as pandas writes it
        file["rows/table"] = rows
        file["rows/meta/values_block_10/meta/table"] = texts
        file["rows"].attrs.update({"pandas_type": numpy.bytes_("frame_table"), "non_index_axes": numpy.bytes_(b"(lp0\n(I1\n(lp1\nVc\np2\naVa\np3\naVb\np4\natp5\na.")})
        file["rows/table"].attrs.update({name: numpy.bytes_(value) for name, value in (
            ("values_block_1_kind", b"(lp0\nVa\np1\naVb\np2\na."), ("values_block_10_kind", b"(lp0\nVc\np1\na."), ("values_block_10_meta", b"category"))})
    facts = json.loads(podere.done("describe", "blocks.h5", "--json").stdout)["columns"]
    assert [column["name"] for column in facts] == ["c", "a", "b"]
    assert facts[0]["missing"] == 1 and [(column["minimum"], column["maximum"]) for column in facts[1:]] == [(1, 5), (2, 6)]
    assert podere.done("describe", "blocks.h5").stdout.count("one, two") == 1
    with h5py.File(podere.folder / "blocks.h5", "r+") as file:
        file["rows/table"].attrs["values_block_1_kind"] = numpy.bytes_(b"(lp0\n(Va\nVb\ntp1\nag1\na.")
    assert "name its columns by texts: frame.columns = [str(name) for name in frame.columns]" in podere.refused("describe", "blocks.h5")


def test_links_to_elsewhere_are_refused_by_name(podere):
    import h5py

    with h5py.File(podere.folder / "links.h5", "w") as file:
        file["x"] = [1.0, 2.0, 3.0]
        file["again"] = h5py.SoftLink("/x")
        file["gone"] = h5py.SoftLink("/nowhere")
        file["far"] = h5py.ExternalLink("other.h5", "/x")
    line = podere.refused("describe", "links.h5")
    assert "'far' (is a link into another file), 'gone' (is a link that leads nowhere)" in line
    assert [column["name"] for column in json.loads(podere.done("describe", "links.h5", "--drop", "far,gone", "--json").stdout)["columns"]] == ["again", "x"]


def test_a_key_names_a_group_or_a_dataset(podere):
    two = FILES / "two.h5"
    assert "has arrays in 2 groups: test, train; choose one by --key" in podere.refused("describe", two)
    for key, n_rows, names in (("train", 30, ["f0", "f1", "f2", "f3", "f4", "y"]), ("/test/", 10, ["f0", "f1", "f2", "f3", "f4", "y"]), ("test/X", 10, ["f0", "f1", "f2", "f3", "f4"])):
        facts = json.loads(podere.done("describe", two, "--key", key, "--json").stdout)
        assert facts["rows"] == n_rows and [column["name"] for column in facts["columns"]] == names
    assert "has no array and no group 'nix'; it has test, train" in podere.refused("describe", two, "--key", "nix")
    assert "key cannot be chosen" in podere.refused("describe", DATA / "table.csv", "--key", "train")
    podere.done("train", "gbt", two, "--key", "train", "--label", "y", "--trees", 3, "-o", "m.json")
    podere.done("predict", "m.json", two, "--key", "test", "--label", "y", "-o", "p.csv")
    assert len((podere.folder / "p.csv").read_text().splitlines()) == 10


def test_groups_of_one_file_may_be_training_and_validation(podere):
    import h5py

    for name, groups in (("two.h5", ("train", "test")), ("other.h5", ("test",))):
        with h5py.File(podere.folder / name, "w") as file:
            for group, n in (("train", 40), ("test", 10)):
                if group in groups:
                    file[f"{group}/x"], file[f"{group}/y"] = range(n), [i % 2 for i in range(n)]
    learn = ("train", "gbt", "two.h5", "--key", "train", "--label", "y", "--trees", 3, "-o", "m.json")
    for validation in ("two.h5", "other.h5"):
        facts = json.loads(podere.done(*learn, "--validation", validation, "--validation-key", "test", "--json").stdout)
        assert (facts["training_rows"], facts["validation_rows"]) == (40, 10)
    assert json.loads(podere.done(*learn, "--validation", "two.h5", "--json").stdout)["validation_rows"] == 40
    assert "other.h5: has no array and no group 'train'; it has test" in podere.refused(*learn, "--validation", "other.h5")
    assert "--validation-key requires --validation" in podere.refused(*learn, "--validation-key", "test")
    podere.write("t.csv", "x,y\n1,0\n2,1\n")
    assert "t.csv: key cannot be chosen" in podere.refused("train", "gbt", "t.csv", "--label", "y", "--validation", "t.csv",
                                                           "--validation-key", "test", "-o", "n.json")


def test_a_folder_of_files_is_one_table(podere, wanted):
    import h5py

    rows = (podere.folder / "rows")
    rows.mkdir()
    with h5py.File(FILES / "plain.h5") as whole:
        for part, chosen in enumerate((slice(0, 13), slice(13, 14), slice(14, 40))):
            with h5py.File(rows / f"{part}.h5", "w", track_order=True) as file:
                for name in ("real", "single", "whole", "small", "same", "color", "when", "flag", "kind"):
                    file.create_dataset(name, data=whole[name][chosen], dtype=whole[name].dtype)
    for executors in (1, 3):
        assert model_of(podere, "rows", *OPTIONS, executors=executors) == wanted


def test_links_into_other_files_lead_nowhere(podere):
    import h5py

    with h5py.File(podere.folder / "there.h5", "w") as file:
        file["deep/x"] = range(9)
    with h5py.File(podere.folder / "here.h5", "w") as file:
        file["y"], file["there"] = range(9), h5py.ExternalLink("there.h5", "/deep")
        file["soft"], file["nowhere"] = h5py.SoftLink("/there/x"), h5py.SoftLink("/nowhere")
    assert "'nowhere' (is a link that leads nowhere), 'soft' (is a link that leads nowhere), 'there' (is a link into another file)" in \
        podere.refused("describe", "here.h5")
    for key in ("there", "there/x", "soft"):
        assert f"here.h5: has no array and no group '{key}'; it has y" in podere.refused("describe", "here.h5", "--key", key)


def test_what_no_table_can_have_is_refused_by_name(podere):
    line = podere.refused("describe", FILES / "kinds.h5")
    for words in ("'complex' (holds complex numbers)", "'lists' (holds a list in each row)", "'pairs' (holds fields in 2 dimensions)", "'short' (3 rows, others have 4)",
                  "'virtual' (is virtual: its values lie in other files; name those)", "'nowhere' (its values lie in another file)"):
        assert words in line
    assert "--drop complex,lists,nowhere,pairs,virtual,short" in line
    columns = json.loads(podere.done("describe", FILES / "kinds.h5", "--columns", "half,large", "--json").stdout)["columns"]
    assert [(column["minimum"], column["maximum"], column["missing"]) for column in columns] == [(-2, 65504, 1), (0, 2.0**64, 0)]
    assert "row 2, column 'beyond': 1e+300 is beyond float32" in podere.refused("describe", FILES / "kinds.h5", "--columns", "beyond")
    assert "real: is packed by bitshuffle (32008), which is not known here" in podere.refused("describe", FILES / "bitshuffle.h5")


def test_what_is_no_file_of_this_kind(podere):
    (podere.folder / "text.h5").write_text("a,b\n1,2\n")
    assert "text.h5: is no HDF5 file" in podere.refused("describe", "text.h5")
    subprocess.run(["gzip", "-k", shutil.copy(FILES / "plain.h5", podere.folder / "plain.h5")], check=True)
    assert "plain.h5.gz: is no HDF5 file; if it is packed, unpack it" in podere.refused("describe", "plain.h5.gz", "--format", "hdf5")


@pytest.mark.parametrize("seed", range(4))
def test_no_damage_crashes_or_hangs(podere, seed):
    chance = random.Random(seed)
    names = sorted(path.name for path in FILES.iterdir() if path.stat().st_size < 40_000)
    outcomes = {0: 0, 2: 0}
    for _ in range(12):
        content = bytearray((FILES / chance.choice(names)).read_bytes())
        for _ in range(chance.choice([1, 3, 20])):
            content[chance.randrange(chance.choice([700, len(content)]))] = chance.randrange(256)
        (podere.folder / "damaged.h5").write_bytes(content)
        run = podere.run("describe", "damaged.h5", "--executors", chance.choice([1, 2]))
        outcomes[run.returncode] += 1
        assert run.returncode == 0 or len(run.stderr.strip().splitlines()) == 1, run.stderr
    assert outcomes[2] > 0


def test_the_reader_ends_with_its_executor(podere):
    """Not by a signal to it: it sees that its input has ended."""
    import h5py
    import numpy

    with h5py.File(podere.folder / "large.h5", "w") as file:
        file.create_dataset("X", data=numpy.random.default_rng(1).normal(size=(200_000, 20)), chunks=(1000, 20), compression="gzip")
    with subprocess.Popen([PODERE, "describe", "large.h5"], cwd=podere.folder, stdout=subprocess.DEVNULL, start_new_session=True) as run:
        readers = []
        deadline = time.monotonic() + 60
        while not readers and run.poll() is None and time.monotonic() < deadline:
            readers = [int(process) for process in os.listdir("/proc") if process.isdigit() and is_reader(process)]
        run.send_signal(signal.SIGKILL)
    assert readers
    while any(is_reader(reader) for reader in readers):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_reader(process):
    try:
        command = pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return command[0].endswith(b"podere-hdf5") and command[1:2] == [b"large.h5"]
