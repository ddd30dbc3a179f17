"""podere classify --contact-sheet: some of the pictures on a page."""

import json
import pathlib
import re

DATA = pathlib.Path(__file__).parents[2] / "data"
NETWORK = ["--model", DATA / "micrographs.onnx", "--labels", DATA / "micrographs.txt"]


def test_the_contact_sheet_is_the_same_on_any_number_of_executors(podere):
    podere.done("generate", "sem", "--images", 30, "--seed", 4, "-o", "micrographs")
    (podere.folder / "micrographs/tips/<b>&.tif").write_text("no picture")
    sheets = set()
    for executors in (1, 3):
        facts = json.loads(podere.done("classify", "micrographs", *NETWORK, "-o", "labels.csv", "--contact-sheet",
                                       "sheet.html", "--executors", executors, "--cores", 1, "--json").stdout)
        assert facts["contact_sheet"] == "sheet.html"
        sheets.add((podere.folder / "sheet.html").read_bytes())
    assert len(sheets) == 1
    sheet = sheets.pop().decode()
    assert sheet.count("<img ") == 30 + 12
    assert re.search(r"<li>[^<]*&lt;b&gt;&amp;\.tif: is a text", sheet)
    assert "http://" not in sheet and "https://" not in sheet and "<script" not in sheet
    assert sorted(path.name for path in podere.folder.iterdir()) == ["labels.csv", "micrographs", "sheet.html"]


def test_a_contact_sheet_that_cannot_be_written_is_refused_before_any_work(podere):
    podere.done("generate", "sem", "--images", 2, "-o", "micrographs")
    for sheet, reason in [("missing/sheet.html", "missing"), ("labels.csv", "labels.csv")]:
        refused = podere.run("classify", "micrographs", *NETWORK, "-o", "labels.csv", "--contact-sheet", sheet)
        assert refused.returncode == 2
        assert reason in refused.stderr
    assert [path.name for path in podere.folder.iterdir()] == ["micrographs"]
