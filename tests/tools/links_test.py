"""Every relative link of the documents leads to a file, and to a heading, that is there."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"),
                *(ROOT / folder / "README.md" for folder in ("data", "podere", "tests/kubernetes"))])
CODE = re.compile(r"^(?P<fence> *```+|~~~+)[^\n]*\n.*?^ *(?P=fence) *$|(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^ *\[[^]]+\]: *(\S+)|(?:href|src)=\"([^\"]+)\"", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)? *$", re.MULTILINE)
OWN_ANCHOR = re.compile(r"<a (?:id|name)=\"([^\"]+)\">")


def without_code(text):
    """The page with the same lines, in which nothing that only shows a link or a heading is left."""
    return CODE.sub(lambda code: "\n" * code[0].count("\n"), text)


def anchors(page):
    """What #... may name on the page: headings, spelled as the sites that show them do, and anchors that it sets itself."""
    text = page.read_text()
    fences_out = re.sub(r"^( *```+|~~~+)[^\n]*\n.*?^ *\1 *$", "", text, flags=re.DOTALL | re.MULTILINE)
    found = set(OWN_ANCHOR.findall(without_code(text)))
    for heading in HEADING.findall(fences_out):
        shown = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = base = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        again = 0
        while anchor in found:
            again += 1
            anchor = f"{base}-{again}"
        found.add(anchor)
    return found


def broken_links(page, root):
    """'line: target (why)' for each."""
    text = without_code(page.read_text())
    for link in LINK.finditer(text):
        target = next(filter(None, link.groups()))
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        line = text.count("\n", 0, link.start()) + 1
        if not file.is_relative_to(root) or not file.exists():
            yield f"{line}: {target} (no such file)"
        elif anchor and (file.suffix != ".md" or anchor not in anchors(file)):
            yield f"{line}: {target} (no such heading)"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    assert not list(broken_links(page, ROOT))


def test_the_index_has_every_page():
    index = ROOT / "docs/README.md"
    linked = {(index.parent / name).resolve() for name in re.findall(r"\]\(([^)#\s]+)", without_code(index.read_text()))}
    for page in (ROOT / "docs").glob("*.md"):
        assert page == index or page in linked, page.name


HOUSE = """# The house
## What's `in_it`, and where?
### Twice
### Twice
```
# not a heading, and [no link](nowhere.md)
```
<a id="by-hand"></a>**A paragraph.** `[code](nowhere.md)`, ``[`code`](nowhere.md)``
"""


@pytest.mark.parametrize("text, broken", [
    ("[a](house.md) [b](house.md#the-house) [c](house.md#whats-in_it-and-where) [d](house.md#twice-1)", []),
    ("[a](house.md#by-hand) ![b](house.md \"a title\") [c](sub) [d](https://example.org/x.md#y) [e](mailto:a@example.org)", []),
    ("# Here\n[a](#here) [two\nlines](house.md)\n[r]: house.md#twice", []),
    ("one\n[a](home.md)", ["2: home.md (no such file)"]),
    ("[a](house.md#home)", ["1: house.md#home (no such heading)"]),
    ("[a](house.md#not-a-heading-and-no-link)", ["1: house.md#not-a-heading-and-no-link (no such heading)"]),
    ("[a](house.md#twice-2) [b](#twice)", ["1: house.md#twice-2 (no such heading)", "1: #twice (no such heading)"]),
    ("[two\nlines](home.md)\n```\n\n```\n[r]: home.md", ["2: home.md (no such file)", "6: home.md (no such file)"]),
    ("<img src=\"house.png\">", ["1: house.png (no such file)"]),
    ("[a](../outside.md)", ["1: ../outside.md (no such file)"])])
def test_a_broken_link_is_named_with_its_line(tmp_path, text, broken):
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "outside.md").write_text("")
    (root / "house.md").write_text(HOUSE)
    (root / "page.md").write_text(text)
    assert list(broken_links(root / "house.md", root)) == []
    assert list(broken_links(root / "page.md", root)) == broken
