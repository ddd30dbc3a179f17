"""Pictures: simulated, trained on, refused."""

import io
import json
import os
import pathlib
import shutil
import tarfile
import zlib

import pytest
from conftest import needed

PICTURES = pathlib.Path(__file__).parents[1] / "data/images"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Sixty micrographs."""
    from conftest import Podere
    podere = Podere(tmp_path_factory.mktemp("made"))
    podere.done("generate", "sem", "--images", "60", "--seed", "3", "-o", "sem")
    return podere.folder / "sem"


def train(podere, source, *options):
    podere.done("train", "gbt", source, "--trees", "3", "--depth", "3", "-o", "m.json", *options)
    return (podere.folder / "m.json").read_bytes()


def without_form(model):
    """The model, but for what it says of how pictures became pixels, which earlier versions did not write."""
    content = json.loads(model)["model"]
    del content["schema"]["pictures"]
    return content


def test_generated_micrographs_are_those_of_the_seed(podere, made):
    facts = json.loads(podere.done("generate", "sem", "--images", "4", "--seed", "3", "-o", "sem", "--json").stdout)
    assert facts["images"] == 4 and facts["output"] == "sem"
    labels = (podere.folder / "sem/LABELS.csv").read_text().splitlines()
    assert labels[0] == "picture,label" and len(labels) == 5
    for line in labels[1:]:
        file, kind = line.split(",")
        assert (podere.folder / "sem" / file).read_bytes() == (made / file).read_bytes()
        assert file.startswith(kind + "/")
    assert "is there already" in podere.refused("generate", "sem", "--images", "4", "-o", "sem")
    assert "--images is 0" in podere.refused("generate", "sem", "--images", "0", "-o", "other")
    assert "podere generate sem --images 2000" in podere.done("generate", "sem", "--help").stdout


def test_a_model_of_pictures_is_the_same_wherever_they_lie(podere, made):
    folder = train(podere, f"images:{made}?size=16")
    assert train(podere, f"images:{made}?size=16", "--executors", "3") == folder
    assert train(podere, f"images:{made}?size=16", "--low-memory") == folder
    with tarfile.open(podere.folder / "sem.tar", "w") as plain, tarfile.open(podere.folder / "sem.tgz", "w:gz") as packed:
        for path in sorted(made.rglob("*.tif")):
            plain.add(path, f"sem/{path.relative_to(made)}")
            packed.add(path, f"sem/{path.relative_to(made)}")
    assert train(podere, "images:sem.tar?size=16") == folder
    assert train(podere, "images:sem.tgz?size=16", "--executors", "2") == folder
    (podere.folder / "sem").symlink_to(made)
    assert train(podere, "images:sem/*/*.tif?size=16") == folder
    simulated = train(podere, "sem:60?seed=3&size=16", "--executors", "2")
    # The same pictures in another order: classes and pixels are the same.
    schema = [json.loads(model)["model"]["schema"] for model in (folder, simulated)]
    assert schema[0] == schema[1]
    facts = json.loads(podere.done("evaluate", "m.json", f"images:{made}?size=16", "--json").stdout)
    assert facts["rows"] == 60 and facts["accuracy"] > 0.3


def test_threads_unpack_a_packed_archive_once(podere):
    """They ask for its pictures one behind another, though there are more than are kept of those on the way."""
    needed("PIL")
    image, numpy = __import__("PIL.Image").Image, needed("numpy")
    random = numpy.random.default_rng(4)
    with tarfile.open(podere.folder / "p.tgz", "w:gz", compresslevel=1) as tar:
        for i in range(3000):
            file = io.BytesIO()
            image.fromarray(random.integers(0, 256, size=(24, 24), dtype=numpy.uint8)).save(file, "png")
            member = tarfile.TarInfo(f"{'ab'[i % 2]}/{i:04}.png")
            member.size = len(file.getvalue())
            file.seek(0)
            tar.addfile(member, file)
    size = (podere.folder / "p.tgz").stat().st_size
    assert size > 2**20
    for cores in (1, 3):
        facts = json.loads(podere.done("train", "centroid", "images:p.tgz?size=4", "--cores", cores, "-o", f"{cores}.json", "--json",
                                       "--metrics").stdout)
        n_bytes = sum(phase["bytes_read"] for phase in facts["metrics"]["phases"] if phase["phase"] == "read")
        assert 2 * size <= n_bytes < 3 * size, "once to list it, once to read it"
    assert (podere.folder / "1.json").read_bytes() == (podere.folder / "3.json").read_bytes()


def test_labels_may_be_in_a_file(podere, made):
    for path in made.rglob("*.tif"):
        shutil.copy(path, podere.folder / path.name)
    lines = [f"{path.name},{path.parent.name}\n" for path in made.rglob("*.tif")]
    (podere.folder / "l.csv").write_text("file,kind\n" + "".join(lines))
    assert train(podere, "images:.?size=8&labels=l.csv") == train(podere, "images:.?size=8", "--labels", "l.csv")
    facts = json.loads(podere.done("evaluate", "m.json", f"images:{made}?size=8", "--json").stdout)
    assert facts["rows"] == 60
    (podere.folder / "l.csv").write_text("".join(lines[1:]))
    podere.refused("train", "gbt", "images:.?size=8&labels=l.csv", "-o", "x.json")  # one has none
    train(podere, "images:.?size=8&labels=l.csv", "--drop-unlabeled")


def test_pages_are_rows_where_all_are_asked_for(podere, made):
    needed("PIL")
    image = __import__("PIL.Image").Image
    for kind in ("tips", "powder"):
        paths = sorted((made / kind).glob("*.tif"))
        (podere.folder / "apart" / kind).mkdir(parents=True)
        (podere.folder / "stacks" / kind).mkdir(parents=True)
        pictures = [image.open(path).convert("L") for path in paths]
        for i, picture in enumerate(pictures):
            picture.save(podere.folder / "apart" / kind / f"{i:03}.tif")
        pictures[0].save(podere.folder / "stacks" / kind / "all.tif", save_all=True, append_images=pictures[1:])
    apart = train(podere, "images:apart?size=8")
    assert train(podere, "images:stacks?size=8&pages=all") == apart
    assert train(podere, "images:stacks?size=8&pages=all", "--executors", "3", "--low-memory") == apart
    facts = json.loads(podere.done("describe", "images:stacks?size=8&pages=first", "--json").stdout)
    assert facts["rows"] == 2
    assert "pages is '3', allowed are first, all" in podere.refused("describe", "images:stacks?size=8&pages=3")


def test_predicting_needs_no_labels(podere, made):
    train(podere, f"images:{made}?size=8")
    (podere.folder / "new/2026-01").mkdir(parents=True)
    for path in list(made.rglob("*.tif"))[:3]:
        shutil.copy(path, podere.folder / "new/2026-01")
    podere.done("predict", "m.json", "images:new?size=8", "-o", "p.csv")
    assert len((podere.folder / "p.csv").read_text().splitlines()) == 3
    assert "pictures as size=9x9&channels=1&fit=stretch, and the model learned them as size=8x8" in podere.refused(
        "predict", "m.json", "images:new?size=9", "-o", "q.csv")


LEARNED = "size=16x12&channels=1&fit=stretch"


@pytest.mark.parametrize("what", [("gbt", "--trees", "2"), ("mlp", "--layers", "4", "--iterations", "2"), ("nn", "--layers", "4", "--epochs", "1"),
                                  ("centroid",)])
def test_a_model_is_applied_to_pictures_of_the_form_that_it_learned(podere, made, what):
    podere.done("train", what[0], f"images:{made}?size=16x12", *what[1:], "-o", "m.json")
    # All have 192 values, which are called pixel1 to pixel192.
    for other, form in (("size=12x16", "size=12x16&channels=1&fit=stretch"), ("size=8x8&channels=3", "size=8x8&channels=3&fit=stretch"),
                        ("size=16x12&fit=crop", "size=16x12&channels=1&fit=crop"),
                        ("size=16x12&fit=pad", "size=16x12&channels=1&fit=pad"),
                        ("size=16x12&bits=12", "size=16x12&channels=1&fit=stretch&bits=12")):
        for command in ("evaluate", "predict"):
            more = () if command == "evaluate" else ("-o", "p.csv")
            line = podere.refused(command, "m.json", f"images:{made}?{other}", *more)
            assert line.endswith(f"?{other}: pictures as {form}, and the model learned them as {LEARNED}: give that behind the "
                                 "question mark")
    podere.done("evaluate", "m.json", f"images:{made}?{LEARNED}")
    podere.done("evaluate", "m.json", "sem:20?seed=1&size=16x12")
    assert json.loads(podere.done("model", "m.json", "--json").stdout)["pictures"] == LEARNED
    assert "pictures as size=12x16" in podere.refused("evaluate", "m.json", "sem:20?seed=1&size=12x16")


def test_a_model_that_does_not_say_its_pictures_is_applied_as_before(podere, made):
    podere.done("train", "centroid", f"images:{made}?size=16x12", "-o", "m.json")
    head, model = (podere.folder / "m.json").read_text().rstrip()[:-1].split('"model":', 1)
    old = model.replace(f',"pictures":"{LEARNED}"', "")
    assert old != model
    head = head.replace(json.loads(head.rstrip(",") + "}")["checksum"], f"{zlib.crc32(old.encode()):08x}")
    (podere.folder / "m.json").write_text(head + '"model":' + old + "}\n")
    podere.done("evaluate", "m.json", f"images:{made}?size=16x12")
    podere.done("evaluate", "m.json", f"images:{made}?size=12x16")
    assert "pictures of 64 values, and the model learned 192" in podere.refused("evaluate", "m.json", f"images:{made}?size=8")


def test_validation_pictures_have_the_form_of_those_to_train_on(podere, made):
    assert f"pictures as size=12x16&channels=1&fit=stretch, and the model learned them as {LEARNED}" in podere.refused(
        "train", "gbt", f"images:{made}?size=16x12", "--validation", f"images:{made}?size=12x16", "-o", "n.json")


@pytest.mark.parametrize("what, options", [("gbt", ("--trees", "2")), ("nn", ("--layers", "4", "--epochs", "1"))])
def test_a_model_is_continued_with_pictures_of_its_form(podere, made, what, options):
    podere.done("train", what, f"images:{made}?size=16x12", *options, "-o", "m.json")
    line = podere.refused("train", what, f"images:{made}?size=12x16", *options, "--from", "m.json", "-o", "n.json")
    assert f"pictures as size=12x16&channels=1&fit=stretch, and the model learned them as {LEARNED}" in line


def test_a_network_learns_pictures(podere, made):
    podere.done("train", "mlp", f"images:{made}?size=8&channels=3&fit=crop", "--layers", "16", "-o", "n.json",
                "--executors", "2")
    first = (podere.folder / "n.json").read_bytes()
    podere.done("train", "mlp", f"images:{made}?size=8&channels=3&fit=crop", "--layers", "16", "-o", "n.json")
    assert (podere.folder / "n.json").read_bytes() == first


@pytest.mark.parametrize("query, words", [
    ("", "needs the size that pictures are brought to, as in images:FOLDER?size=32, or a network, as in model=FILE.onnx"),
    ("?size=0", "size is '0', allowed are 1 to 16384 pixels"),
    ("?size=8x", "size is '8x', allowed are"),
    ("?size=4096&channels=3", "allowed are 1000000: choose a smaller size"),
    ("?size=8&channels=2", "channels is '2', allowed are 1 (gray) and 3"),
    ("?size=8&fit=zoom", "fit is 'zoom', allowed are stretch, crop, pad"),
    ("?size=8&size=9", "size is given twice"),
    ("?size=8&network=inception.onnx", "'network' is not known behind the question mark; there are size=, channels="),
    ("?size=8&labels=none.csv", "none.csv: cannot be read"),
])
def test_a_query_that_is_wrong_is_refused(podere, made, query, words):
    assert words in podere.refused("train", "gbt", f"images:{made}{query}", "-o", "m.json")


def test_a_folder_of_pictures_that_is_named_as_a_table_is_refused_with_the_way_to_one(podere, made):
    shutil.copytree(made, podere.folder / "sem")
    for _ in range(2):
        assert podere.refused("train", "gbt", "sem", "-o", "m.json").endswith(
            ".tif: is a picture; a table of pictures is 'images:sem?size=32', or what a network makes of them, "
            "'images:sem?model=FILE.onnx&layer=NAME'")
        (podere.folder / "sem/LABELS.csv").unlink(missing_ok=True)  # which comes first, as its name is in capitals
    [picture, *_] = sorted((podere.folder / "sem/tips").iterdir())
    assert f"is a picture; a table of pictures is 'images:{picture}?size=32'" in podere.refused("describe", picture)


def test_a_picture_that_cannot_be_decoded_is_named(podere, made):
    shutil.copytree(made, podere.folder / "sem")
    (podere.folder / "sem/tips/notes.tif").write_text("lost\n")
    for executors in ("1", "2"):
        line = podere.refused("train", "gbt", "images:sem?size=8", "-o", "m.json", "--executors", executors)
        assert line.endswith("tips/notes.tif: is a text, and no picture; pictures are read as TIFF, JPEG or PNG, known by "
                             "their first bytes")
    assert "has no labels" in podere.refused("train", "gbt", "images:sem/films?size=8", "-o", "m.json")
    assert "label cannot be chosen" in podere.refused("train", "gbt", "images:sem?size=8", "--label", "x", "-o", "m.json")
    assert "no such folder" in podere.refused("train", "gbt", "images:none?size=8", "-o", "m.json")
    assert "sem:1000?seed=1&size=32" in podere.refused("train", "gbt", "sem:ten?size=8", "-o", "m.json")


def test_what_is_white_is_chosen_for_pictures_that_use_few_of_their_bits(podere):
    needed("PIL")
    image, numpy = __import__("PIL.Image").Image, needed("numpy")
    for i, of_one in enumerate(numpy.random.default_rng(5).integers(0, 256, size=(6, 20, 30), dtype=numpy.uint8)):
        for folder, picture in (("eight", of_one), ("twelve", of_one.astype(numpy.uint16) * 16)):
            (podere.folder / folder / "ab"[i % 2]).mkdir(parents=True, exist_ok=True)
            image.fromarray(picture).save(podere.folder / folder / "ab"[i % 2] / f"{i}.{('png', 'tif')[i // 3]}")
    eight = without_form(train(podere, "images:eight?size=8"))
    assert "nearly black: say what is white by --bits (bits= of a location): the bits of the camera, " in podere.refused(
        "train", "gbt", "images:twelve?size=8", "-o", "none.json")
    assert without_form(train(podere, "images:twelve?size=8&bits=12")) == eight
    assert "bits is '7', allowed are 8 to 32" in podere.refused("describe", "images:twelve?size=8&bits=7")


def test_odd_pictures_are_read_or_refused_and_nothing_else(podere):
    """Each alone: a crash, a hang or more than one line is a fault of Podere's."""
    for path in sorted([*(PICTURES / "odd").iterdir(), *(PICTURES / "made").iterdir()]):
        result = podere.run("describe", f"images:{path}?size=4", "--json", timeout=30)
        assert result.returncode in (0, 2), (path, result.stderr)
        if result.returncode == 2:
            assert result.stderr.startswith(f"podere: {path}: ") and result.stderr.count("\n") == 1, result.stderr
        else:
            assert result.stderr == ""


def test_sessions_keep_pictures(podere, made, tmp_path_factory):
    there = {"XDG_RUNTIME_DIR": str(tmp_path_factory.mktemp("run"))}
    podere.done("session", "start", "s", "--executors", "2", environment=there)
    try:
        relative = os.path.relpath(made, podere.folder)
        podere.done("session", "load", "s", f"images:{relative}?size=8", "--as", "p", environment=there)
        podere.done("train", "gbt", "table:p", "--trees", "3", "--depth", "3", "-o", "s.json", "--session", "s", environment=there)
        for what in ("gbt", "nn"):
            options = ("--trees", "1") if what == "gbt" else ("--layers", "4", "--epochs", "1", "--loss", "cross-entropy")
            podere.done("train", what, f"images:{relative}?size=16x4", *options, "-o", "wide.json")
            words = ("the model learned pictures as size=16x4&channels=1&fit=stretch, and those of the data are "
                     "size=8x8&channels=1&fit=stretch")
            for command in (("evaluate", "wide.json", "table:p"),
                            ("train", what, "table:p", *options, "--from", "wide.json", "-o", "x.json")):
                result = podere.run(*command, "--session", "s", environment=there)
                assert result.returncode == 2 and words in result.stderr, result.stderr
    finally:
        podere.done("session", "stop", "s", environment=there)
    assert (podere.folder / "s.json").read_bytes() == train(podere, f"images:{made}?size=8")
