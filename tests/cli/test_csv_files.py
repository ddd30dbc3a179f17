"""What commands say of the CSV file that they read, and what they do with columns of texts."""
import gzip
import json

import pytest

ROWS = "".join(f"{i % 2},{i * 7 % 11},{i * 3 % 5}\n" for i in range(40))
NAMED = "y,a,b\n" + ROWS
NAMES = "the first line names the columns (if it is a row: --no-header)"
ROW = "the first line is a row (if it names the columns: --header)"
TEXTS = "id,when,x,city,y\n" + "".join(f"n{i},2024-01-{i + 1:02},{i}.5,{'Rome' if i % 3 else 'Bari'},{i % 2}\n"
                                       for i in range(20))


@pytest.mark.parametrize("text, found, line", [(NAMED, "names", NAMES), (ROWS, "row", ROW)])
def test_every_command_says_what_the_first_line_was_found_to_be(podere, text, found, line):
    podere.write("d.csv", text)
    label = "0"
    for command in (["describe", "d.csv"], ["train", "gbt", "d.csv", "--trees", 2, "-o", "m.json", "--label", label],
                    ["train", "nn", "d.csv", "--epochs", 1, "-o", "n.json", "--label", label],
                    ["train", "gbt", "d.csv", "--trees", 2, "-o", "l.json", "--label", label, "--low-memory"],
                    ["predict", "m.json", "d.csv", "--label", label, "-o", "p.csv"],
                    ["evaluate", "m.json", "d.csv", "--label", label], ["explain", "m.json", "d.csv", "--label", label]):
        assert podere.done(*command).stdout.startswith(f"d.csv: {line}\n"), command
        for executors in (1, 3):
            files = json.loads(podere.done(*command, "--json", "--executors", executors).stdout)["files"]
            assert [(file["file"], file["first_line"]) for file in files] == [(str(podere.folder / "d.csv"), found)] or \
                [(file["file"], file["first_line"]) for file in files] == [("d.csv", found)], command
    option = "--header" if found == "row" else "--no-header"
    if found == "row":
        files = json.loads(podere.done("describe", "d.csv", option, "--json").stdout).get("files", [{}])
        assert [set(file) for file in files] in ([set()], [{"file", "renamed"}]), files  # 0,0,0 repeats a name


def test_validation_data_are_spoken_of_too(podere):
    podere.write("d.csv", NAMED)
    podere.write("v.csv", NAMED)
    out = podere.done("train", "gbt", "d.csv", "--label", "y", "--validation", "v.csv", "--trees", 2, "-o", "m.json").stdout
    assert out.startswith(f"d.csv: {NAMES}\nv.csv: {NAMES}\n")


def test_a_doubtful_first_line_is_refused_by_every_command(podere):
    podere.write("good.csv", NAMED)
    podere.done("train", "gbt", "good.csv", "--label", "y", "--trees", 2, "-o", "m.json")
    podere.write("d.csv", "x,1.5,2\n3,3,4\n5,6,7\n")
    (podere.folder / "d.csv.gz").write_bytes(gzip.compress(b"x,1.5,2\n3,3,4\n5,6,7\n"))
    for path in ("d.csv", "d.csv.gz"):
        for command in (["describe", path], ["train", "gbt", path, "-o", "n.json"], ["predict", "m.json", path, "-o", "p"],
                        ["evaluate", "m.json", path], ["explain", "m.json", path], ["describe", path, "--executors", 2]):
            message = podere.refused(*command)
            assert message.endswith(f"{path}:1: the line may name the columns or be a row: 'x' stands over numbers, other "
                                    "fields are like those below; choose with --header (names) or --no-header (a row), in "
                                    "Python header=True or False"), message


def test_describe_describes_columns_of_texts(podere):
    podere.write("t.csv", TEXTS)
    out = podere.done("describe", "t.csv").stdout
    assert "20 rows, 5 columns" in out and "--drop" in out and "--categorical" in out
    for executors in (1, 3):
        columns = json.loads(podere.done("describe", "t.csv", "--json", "--executors", executors).stdout)["columns"]
        assert [(c["name"], c.get("texts", 0), c["missing"]) for c in columns] == [
            ("id", 20, 0), ("when", 0, 0), ("x", 0, 0), ("city", 20, 0), ("y", 0, 0)]
        assert columns[0]["mean"] is None and columns[2]["mean"] == 10
    assert "text" not in podere.done("describe", "t.csv", "--drop", "id,when,city").stdout


def test_describe_describes_any_file_that_splits(podere):
    podere.write("t.csv", "x,x\n1,1e99\n,oops\n")
    columns = json.loads(podere.done("describe", "t.csv", "--json").stdout)["columns"]
    assert [(c.get("texts", 0), c["missing"], c["maximum"]) for c in columns] == [(0, 1, 1), (2, 0, None)]


def test_all_columns_of_texts_are_named_at_once_with_what_helps(podere):
    podere.write("t.csv", TEXTS)
    for extra in ([], ["--executors", 3], ["--low-memory"]):
        message = podere.refused("train", "gbt", "t.csv", "--label", "y", "-o", "m.json", *extra)
        assert message.endswith(
            "t.csv:2: column 'id' (position 0): 'n0' is neither a number nor a text for a missing value; not numbers: "
            "'id' (20 of 20 rows), 'city' (20 of 20 rows); leave out with --drop id,city, take texts as categories with "
            "--categorical id,city (or auto), or name a text for missing values with --missing"), message


def test_dropped_columns_count_for_no_command(podere):
    podere.write("t.csv", TEXTS)
    drop = ["--label", "y", "--drop", "id,when"]
    podere.done("train", "gbt", "t.csv", *drop, "--categorical", "city", "--trees", 2, "--min-child-weight", 0, "-o", "m.json")
    podere.done("train", "nn", "t.csv", "--label", "y", "--drop", "0,1,3", "--epochs", 1, "-o", "n.json")
    assert json.loads(podere.done("train", "gbt", "t.csv", *drop, "--categorical", "city", "--trees", 2, "-o", "m.json",
                                  "--validation", "t.csv", "--json").stdout)["features"] == 2
    podere.done("evaluate", "m.json", "t.csv", *drop)
    podere.done("predict", "m.json", "t.csv", *drop, "-o", "p.csv")
    podere.done("explain", "m.json", "t.csv", *drop)
    assert "is dropped, and the label" in podere.refused("train", "gbt", "t.csv", "--label", "y", "--drop", "y", "-o", "q.json")
    assert "--columns excludes --drop" in podere.refused("describe", "t.csv", "--drop", "y", "--columns", "x")
    assert "drop cannot be chosen" in podere.refused("describe", "collider:10", "--drop", "0")


def test_lines_above_the_table_are_skipped(podere):
    rows = "x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(50))
    podere.write("plain.csv", rows)
    podere.write("titled.csv", "Measured in May,,,\n\n" + rows)
    line = podere.refused("train", "gbt", "titled.csv", "-o", "m.json")
    assert line.endswith("titled.csv:1: the first line has 4 fields, and the lines below have 2: leave out what is above the table with --skip 2")
    skip = ("--skip", 2)
    for options in ((), ("--executors", 3), ("--low-memory",)):
        podere.done("train", "gbt", "titled.csv", *skip, *options, "--trees", 2, "-o", "m.json", "--validation", "titled.csv")
        podere.done("train", "gbt", "plain.csv", *options, "--trees", 2, "-o", "p.json", "--validation", "plain.csv")
        assert (podere.folder / "m.json").read_bytes() == (podere.folder / "p.json").read_bytes(), options
    podere.done("evaluate", "m.json", "titled.csv", *skip)
    assert "has no line behind the first 53" in podere.refused("describe", "titled.csv", "--skip", 53)
    assert "has a header but no rows" in podere.refused("describe", "titled.csv", "--skip", 52, "--header")
    assert "is not a whole number from 0" in podere.refused("describe", "titled.csv", "--skip", "-1")
    assert "skip cannot be chosen" in podere.refused("describe", "collider:10", *skip)


def test_columns_with_the_name_of_another_are_renamed_and_printed(podere):
    data = podere.write("twice.csv", "y,a,a\n" + "".join(f"{i % 2},{i},{i % 2}\n" for i in range(40)))
    for options in ([], ["--executors", 2], ["--low-memory"]):
        printed = podere.done("train", "gbt", data, "--trees", 2, *options, "-o", "m.json").stdout.splitlines()
        assert printed[:2] == ["twice.csv: the first line names the columns (if it is a row: --no-header)",
                               "twice.csv: columns with the name of another are called 'a.1'"]
    facts = json.loads(podere.done("evaluate", "m.json", data, "--header", "--json").stdout)
    assert facts["files"] == [{"file": "twice.csv", "renamed": ["a.1"]}] and facts["accuracy"] == 1
    assert "the weight column 'a' is ambiguous: positions 1 and 2" in podere.refused("train", "gbt", data, "--weight", "a", "-o", "m.json")
    podere.done("train", "gbt", data, "--drop", "a.1", "-o", "m.json")


def test_an_index_without_a_name_leaves_others_their_names(podere):
    data = podere.write("index.csv", '"","f0","f1"\n' + "".join(f'"{i}",{i % 2},{i % 3}\n' for i in range(1, 40)))
    facts = json.loads(podere.done("describe", data, "--json").stdout)
    assert [column["name"] for column in facts["columns"]] == ["f0", "f1"]
    assert facts["files"][0]["left_out"] == [{"column": "f0.1", "reason": "index"}] and "renamed" not in facts["files"][0]
    facts = json.loads(podere.done("describe", data, "--columns", "0,2", "--json").stdout)
    assert [column["name"] for column in facts["columns"]] == ["f0.1", "f1"]
