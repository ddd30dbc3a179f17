"""A browser, the page with a document in it, and Node's modules that the page is built with.

All are needed in CI. Elsewhere, tests whose tools are missing are skipped.
"""

import os
import pathlib
import shutil
import subprocess
import time

import pytest

import facts
import samples

ROOT = pathlib.Path(__file__).parents[2]
WEB = ROOT / "web"


def missing(what):
    if os.environ.get("CI"):
        pytest.fail(f"CI needs {what}", pytrace=False)
    pytest.skip(f"needs {what}: tools/setup.sh web")


@pytest.fixture(scope="session")
def modules(tmp_path_factory):
    """A copy of web/ with its modules, kept for the next time while the list of modules stays the same."""
    if not shutil.which("npm"):
        missing("npm")
    folder = pathlib.Path(os.environ.get("WEB_BUILD") or tmp_path_factory.mktemp("web"))
    listed = folder / "package.json"
    wanted = (WEB / "package.json").read_bytes()
    if not (folder / "node_modules/.complete").exists() or listed.read_bytes() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        listed.write_bytes(wanted)
        done = subprocess.run(
            ["npm", "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--silent"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode:
            missing(f"npm's registry ({done.stderr.strip()[-300:]})")
        (folder / "node_modules/.complete").touch()
    shutil.rmtree(folder / "src", ignore_errors=True)
    shutil.copytree(WEB / "src", folder / "src")
    for name in ("build.mjs", "tsconfig.json"):
        shutil.copy(WEB / name, folder / name)
    return folder


class Browser:
    """Chromium, with what tests ask of a page."""

    def __init__(self, driver):
        self.driver = driver
        self.width, self.theme = 1280, "light"

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def screen(self, width=1280, theme="light"):
        self.width = width
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        )

    def open(self, file, view="overview"):
        self.driver.get("about:blank")
        self.driver.get(f"file://{file}#{view}")
        self.settle()

    def go(self, view):
        """By the link, as a reader does."""
        self.run("document.querySelector(`nav a[data-view=${arguments[0]}]`).click()", view)
        self.settle()

    def settle(self):
        """Until what sizes and intersections cause has happened."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)))"
        )

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def text(self, selector="main"):
        """As it is read: without tables of charts and hidden parts."""
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText).join('\\n')", selector
        )

    def labels(self, selector="[role=img]"):
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.getAttribute('aria-label'))", selector
        )

    def table(self, caption, place=0):
        """Texts of the cells of a table, by rows, the head first."""
        return self.run(
            """
            const tables = [...document.querySelectorAll('main table')].filter(e => e.caption?.textContent.startsWith(arguments[0]) && e.offsetParent);
            return tables[arguments[1]] && [...tables[arguments[1]].rows].filter(row => !row.matches('.spacer')).map(row => [...row.cells].map(cell => cell.textContent));""",
            caption,
            place,
        )

    def press(self, *names):
        """Keys, one after the other."""
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        ActionChains(self.driver).send_keys(*(getattr(Keys, name) for name in names)).perform()
        self.settle()

    def button(self, text):
        self.run(
            "[...document.querySelectorAll('main button')].find(e => e.textContent.startsWith(arguments[0]) && e.offsetParent).click()",
            text,
        )
        self.settle()


@pytest.fixture(scope="session")
def chromium():
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        missing("python3-selenium")
    if not pathlib.Path("/usr/bin/chromedriver").exists():
        missing("chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--window-size=1280,900",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.set_script_timeout(30)
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium):
    found = Browser(chromium)
    found.errors()  # of the test before
    found.screen()
    return found


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """By name, files with the documents of samples.py."""
    folder = tmp_path_factory.mktemp("pages")
    made = {}

    def of(name):
        if name not in made:
            document = samples.many_tasks(200, 50) if name == "many_tasks" else samples.ALL[name]()
            made[name] = (facts.page(document, folder / f"{name}.html"), document)
        return made[name][0]

    of.document = lambda name: (of(name), made[name][1])[1]
    return of


def wait_for(look, seconds=20.0):
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)
    return found
