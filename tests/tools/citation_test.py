"""CITATION.cff says of the program what the build and the license say."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_version_and_license_are_the_programs():
    citation = (ROOT / "CITATION.cff").read_text()
    fields = dict(re.findall(r"^([a-z-]+): *(.*)$", citation, re.MULTILINE))
    assert fields["cff-version"] == "1.2.0" and fields["message"] and fields["title"] == "Podere"
    assert re.search(r"^authors:\n  - name: The Podere developers$", citation, re.MULTILINE)
    assert fields["version"] == re.search(r"project\(podere VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert f'license = {{text = "{fields["license"]}"}}' in (ROOT / "pyproject.toml").read_text()
    assert "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text()
