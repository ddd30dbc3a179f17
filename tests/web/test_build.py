"""The page that is committed is what its sources make, on any machine."""

import gzip
import re
import subprocess

import facts
from conftest import WEB


def run(modules, *command):
    return subprocess.run(command, cwd=modules, capture_output=True, text=True, timeout=120)


def test_the_committed_page_is_what_the_sources_build(modules, tmp_path):
    """Mended by: cd web && npm install --ignore-scripts && npm run build."""
    done = run(modules, "node", "build.mjs", str(tmp_path / "page.html"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").read_bytes() == (WEB / "dist/page.html").read_bytes()


def test_types_hold(modules):
    done = run(modules, "npm", "run", "--silent", "check", "--", "--listFiles")
    assert done.returncode == 0, done.stdout
    assert {path.name for path in modules.rglob("src/**/*.ts")} <= {
        line.rsplit("/", 1)[1] for line in done.stdout.splitlines()
    }


def test_modules_need_no_others(modules):
    """So there is no lock file: exact versions of package.json say all."""
    listed = run(modules, "npm", "ls", "--all", "--parseable").stdout
    found = {line.rsplit("node_modules/", 1)[1] for line in listed.splitlines() if "node_modules/" in line}
    assert found - {"@esbuild/linux-x64", "@esbuild/linux-arm64"} == {"axe-core", "esbuild", "typescript", "uplot"}


def test_the_page_is_one_small_file_without_addresses():
    page = facts.PAGE.read_text()
    assert page.count(facts.PLACE) == 1
    assert len(gzip.compress(page.encode())) < 200_000
    assert "Copyright (c) 2022 Leon Sorokin" in page
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page.split("<body>")[0]) == []
    assert set(re.findall(r"https?://[^\s)\"'`]+", page)) <= {
        "https://github.com/leeoniya/uPlot",
        "http://www.w3.org/2000/svg",
    }
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert {"default-src 'none'", "connect-src 'none'", "require-trusted-types-for 'script'"} <= set(policy.split("; "))
    assert "unsafe" not in policy
