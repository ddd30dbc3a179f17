"""Parquet files of many programs: the same model as from the same rows in CSV; folders of files; what is no table."""

import json
import pathlib
import shutil
import subprocess

import pytest
from conftest import PODERE, Podere, model_of

DATA = pathlib.Path(__file__).parents[1] / "data/columns"
FILES = sorted(path.stem for path in DATA.glob("*.parquet") if path.stem not in ("kinds", "no_rows", "durations", "arrow_durations", "something", "nothing"))
OPTIONS = ("--label", "kind", "--categorical", "color")


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    return model_of(Podere(tmp_path_factory.mktemp("wanted")), DATA / "table.csv", *OPTIONS)


@pytest.mark.parametrize("name", FILES)
def test_a_file_makes_the_model_of_the_same_rows_in_csv(podere, wanted, name):
    for executors in (1, 3):
        assert model_of(podere, DATA / f"{name}.parquet", *OPTIONS, executors=executors) == wanted, executors


def test_all_of_it_is_as_in_csv_dates_and_labels_too(podere):
    for options in (("--categorical", "auto", "--label", "kind"), ("--categorical", "auto", "--date-parts", "--label", "flag"), ("--categorical", "whole,flag,color,kind", "--label", "kind"),
                    ("--label", "flag", "--drop", "color,kind"), ("--label", "whole", "--drop", "1,color,kind", "--rows", "7:33", "--objective", "squared-error"),
                    ("--label", "kind", "--columns", "when,same", "--missing", "7.5")):
        assert len({model_of(podere, DATA / f"{name}", *options) for name in ("table.csv", "zstd.parquet", "encodings.parquet")}) == 1


def test_a_model_is_applied_to_the_other_format(podere):
    model_of(podere, DATA / "polars.parquet", *OPTIONS)
    for data in ("table.csv", "plain.parquet"):
        podere.done("predict", "m.json", DATA / data, "-o", f"{data}.out")
    assert (podere.folder / "table.csv.out").read_bytes() == (podere.folder / "plain.parquet.out").read_bytes()


def test_describe_says_what_the_file_says(podere):
    facts = json.loads(podere.done("describe", DATA / "kinds.parquet", "--json", "--columns", "x,price,clock,half,large,nothing").stdout)
    kinds = {column["name"]: column["kind"] for column in facts["columns"]}
    assert kinds == {"x": "number", "price": "number", "clock": "time", "half": "number", "large": "number", "nothing": "number"}
    found = {column["name"]: (column["minimum"], column["maximum"], column["missing"]) for column in facts["columns"]}
    assert found["price"] == (-2.5, 1.25, 1) and found["half"] == (-2, 1.5, 0) and found["large"] == (0, 2.0**63, 0)
    assert found["clock"][1] == 0.5 and found["nothing"][2] == 3
    for name in ("durations", "arrow_durations"):
        wait = json.loads(podere.done("describe", DATA / f"{name}.parquet", "--json").stdout)["columns"][1]
        assert (wait["maximum"], wait["missing"], wait["examples"]) == (1.5, 1, ["1.5"])
    assert "when holds dates" in podere.done("describe", DATA / "snappy.parquet").stdout
    assert "the data frame's index" in podere.done("describe", DATA / "pandas.parquet").stdout


def test_what_no_table_can_have_is_refused_by_name(podere):
    line = podere.refused("describe", DATA / "kinds.parquet")
    assert "'list' (list), 'struct' (struct), 'map' (map), 'bytes' (binary)" in line and "--drop list,struct,map,bytes" in line
    assert "row 0, column 'beyond': 1e+300 is beyond float32" in podere.refused("describe", DATA / "kinds.parquet", "--columns", "beyond")
    assert "has no rows" in podere.refused("describe", DATA / "no_rows.parquet")
    assert "there is no label column 'nix'; there are 'real', " in podere.refused("train", "gbt", DATA / "zstd.parquet", "--label", "nix", "-o", "n.json")
    assert "delimiter cannot be chosen" in podere.refused("describe", DATA / "zstd.parquet", "--delimiter", ";")


def test_damaged_files_are_refused(podere):
    whole = (DATA / "none.parquet").read_bytes()
    (podere.folder / "cut.parquet").write_bytes(whole[:-20])
    assert "cut.parquet: is no whole Parquet file" in podere.refused("describe", "cut.parquet")
    (podere.folder / "dark.parquet").write_bytes(whole[:-4] + b"PARE")
    assert "is encrypted" in podere.refused("describe", "dark.parquet")
    page = 80  # in the first page, of column real
    (podere.folder / "page.parquet").write_bytes(whole[:page] + bytes([whole[page] ^ 8]) + whole[page + 1 :])
    line = podere.refused("describe", "page.parquet", "--executors", 3)
    assert "row 0, column 'real': is damaged: the page is not what was written: its checksum is another (at byte 4)" in line
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    (podere.folder / "footer.parquet").write_bytes(whole[:footer] + bytes(50) + whole[footer + 50 :])
    assert "its footer does not say where its columns are" in podere.refused("describe", "footer.parquet")


@pytest.fixture
def parts(podere):
    """Rows of table.csv as six files in folders of year and site, in CSV and Parquet; and all of them as one file."""
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(DATA / "table.csv")
    rows = []
    for i in range(6):
        part = table[i * 6 : (i + 1) * 6]
        folder = podere.folder / f"csv/year={2020 + i // 2}/site=s%20{i % 2}"
        folder.mkdir(parents=True)
        part.to_csv(folder / f"part-{i}.csv", index=False)
        rows.append(part.assign(year=2020 + i // 2, site=f"s {i % 2}"))
    (podere.folder / "csv/_SUCCESS").touch()
    (podere.folder / "csv/year=2020/.part.crc").write_text("x")
    (podere.folder / "csv/year=2020/site=s%200/empty.csv").touch()
    pandas.concat(rows).to_csv(podere.folder / "all.csv", index=False)
    return "csv"


def test_a_folder_is_read_with_what_its_folders_say(podere, parts):
    options = ("--label", "kind", "--categorical", "color,site")
    wanted = model_of(podere, "all.csv", *options)
    assert model_of(podere, parts, *options) == wanted
    assert model_of(podere, parts + "/", *options, executors=3) == wanted
    assert model_of(podere, "csv/year=*", *options, executors=5) == wanted
    assert "year" in podere.done("model", "m.json").stdout
    one = podere.done("describe", "csv/year=202[12]/*/*.csv", "--json").stdout
    assert json.loads(one)["rows"] == 24
    assert json.loads(one)["files"][0]["n_files"] == 4 and json.loads(one)["files"][0]["folder_columns"] == ["year", "site"]
    assert "csv: 6 files, one after another; columns of their folders' names: 'year', 'site'" in podere.done("describe", "csv").stdout


def test_a_folder_may_have_more_files_than_may_be_open_at_first(podere):
    (podere.folder / "many").mkdir()
    for i in range(300):
        podere.write(f"many/{i:03}.csv", f"a,b\n{i},2\n")
    run = lambda soft, hard: subprocess.run(["prlimit", f"--nofile={soft}:{hard}", PODERE, "describe", "many", "--json"], cwd=podere.folder,
                                            capture_output=True, text=True, timeout=120)
    assert json.loads(run(256, 4096).stdout)["rows"] == 300
    refused = run(256, 300)
    assert refused.returncode == 2 and "many: has 300 files, and a process may have 300 open at once here: join files" in refused.stderr


def test_parquet_files_in_a_folder_are_one_table(podere):
    folder = podere.folder / "many"
    for i, name in enumerate(("zstd", "plain", "duckdb")):
        (folder / f"batch={i}").mkdir(parents=True)
        shutil.copy(DATA / f"{name}.parquet", folder / f"batch={i}/x.parquet")
    lines = (DATA / "table.csv").read_text().splitlines()
    rows = [lines[0] + ",batch"] + [f"{line},{i}" for i in range(3) for line in lines[1:]]
    podere.write("all.csv", "\n".join(rows) + "\n")
    wanted = model_of(podere, "all.csv", *OPTIONS)
    for executors in (1, 2, 5):
        assert model_of(podere, "many", *OPTIONS, executors=executors) == wanted


def test_what_is_written_is_kept_out_of_what_is_read(podere, parts):
    for output in ("csv/m.json", "csv/year=2020/new.json", "../" + podere.folder.name + "/csv/m.json"):
        for data in ("csv", "csv/"):
            line = podere.refused("train", "gbt", data, "--label", "kind", "--categorical", "auto", "-o", output)
            assert f"-o {output} would be among the files of DATA {data}" in line or "would be among the files of" in line
    line = podere.refused("train", "gbt", "csv/*/*/*.csv", "--label", "kind", "-o", "csv/year=2020/site=s%200/part-0.csv")
    assert "would be among the files of" in line
    podere.done("train", "gbt", "csv/*/*/*.csv", "--label", "kind", "--categorical", "auto", "--trees", 1, "-o", "csv/m.json")


def test_a_column_without_values_in_one_file_may_have_any_kind_in_another(podere):
    (podere.folder / "many").mkdir()
    for i, name in enumerate(("kinds", "durations", "kinds")):
        shutil.copy(DATA / f"{name}.parquet", podere.folder / f"many/{i}.parquet")
    assert "1.parquet: has not the columns of" in podere.refused("describe", "many", "--columns", "x")
    shutil.copy(DATA / "nothing.parquet", podere.folder / "many/1.parquet")
    shutil.copy(DATA / "something.parquet", podere.folder / "many/0.parquet")
    shutil.copy(DATA / "nothing.parquet", podere.folder / "many/2.parquet")
    columns = {}
    for order in ("012", "102"):
        for i, j in enumerate(order):
            shutil.copy(podere.folder / f"many/{j}.parquet", podere.folder / f"many/x{i}.parquet")
        columns = json.loads(podere.done("describe", "many/x*.parquet", "--json").stdout)["columns"]
        assert [(c["name"], c["kind"], c["missing"]) for c in columns] == [("x", "number", 0), ("note", "text", 4), ("late", "text", 4)]
        podere.done("train", "gbt", "many/x*.parquet", "--label", "late", "--drop", "note", "--rows", "0:2" if order == "012" else "2:4",
                    "--trees", 1, "-o", "m.json")


def test_files_that_do_not_belong_together_are_refused(podere, parts):
    podere.write("csv/year=2021/site=s%200/other.csv", "real,single\n1,2\n")
    line = podere.refused("describe", "csv")
    assert "other.csv: has not the columns of csv/year=2020/site=s%200/part-0.csv: it has 'real', 'single', " in line
    (podere.folder / "csv/year=2021/site=s%200/other.csv").unlink()
    podere.write("csv/year=2021/loose.csv", "real,single\n1,2\n")
    assert "do not give values to the same names" in podere.refused("describe", "csv")
    (podere.folder / "mixed").mkdir()
    shutil.copy(DATA / "zstd.parquet", podere.folder / "mixed/a.parquet")
    shutil.copy(DATA / "kinds.parquet", podere.folder / "mixed/b.parquet")
    line = podere.refused("describe", "mixed")
    assert "b.parquet: has not the columns of mixed/a.parquet: it lacks 'real', " in line and "'x'" in line
    (podere.folder / "nothing").mkdir()
    assert "nothing: the folder has no files" in podere.refused("describe", "nothing")
    assert "no file fits this pattern" in podere.refused("describe", "nix*.csv")
    assert "** is not known" in podere.refused("describe", "**/x.csv")
    podere.write("rows.svm", "1 1:2\n")
    assert "of the format libsvm one is read at a time" in podere.refused("describe", "rows.*", "--format", "libsvm")
