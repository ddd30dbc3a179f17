"""Files of numbers alone, in sessions."""
import numpy
import pytest

import podere

X = numpy.random.default_rng(3).normal(size=(1500, 6))


@pytest.fixture(scope="module")
def session():
    with podere.Session(executors=2, cores=1, progress=False, page=False) as s:
        yield s


@pytest.mark.parametrize("kind", ["float64", ">f8", numpy.float64, numpy.dtype(">f8")])
def test_a_session_reads_what_tofile_wrote(session, tmp_path, kind):
    (tmp_path / "a.bin").write_bytes(b"abc" + X.astype(kind).tobytes())
    layout = {"format": "raw", "raw_type": kind, "raw_columns": 6, "skip_bytes": 3}
    table = session.read(tmp_path / "a.bin", **layout)
    assert table.shape == (1500, 6)
    found = session.svd(tmp_path / "a.bin", 2, **layout)
    numpy.testing.assert_allclose(found.s, numpy.linalg.svd(X, compute_uv=False)[:2], rtol=1e-12)


@pytest.mark.parametrize("options, words", [
    ({"format": "raw"}, "choose raw_type, such as float32, and raw_columns"),
    ({"format": "raw", "raw_type": "float80", "raw_columns": 6}, "raw_type is 'float80', allowed are types of NumPy"),
    ({"format": "raw", "raw_type": "U5", "raw_columns": 6}, "raw_type is .*, allowed are float32, "),
    ({"format": "raw", "raw_type": "f8", "raw_columns": 7}, "no whole number of rows"),
    ({"format": "raw", "raw_type": "f8", "raw_columns": -1}, "raw_columns is -1, allowed is a whole number from 1 to 10000000"),
    ({"format": "raw", "raw_type": "f8", "raw_columns": 6, "skip_bytes": -3}, "skip_bytes is -3, allowed is a whole number from 0"),
    ({"raw_type": "f8", "raw_columns": 6}, "cannot be chosen"),
])
def test_what_does_not_fit_is_refused(session, tmp_path, options, words):
    X.tofile(tmp_path / "a.bin")
    with pytest.raises(ValueError, match=words):
        session.read(tmp_path / "a.bin", **options)
