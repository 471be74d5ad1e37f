"""A real Chromium, a real server, and a page on which nothing may go wrong."""

import re
import shutil
import time
from pathlib import Path

import pytest

from serving import Served, description, evaluate, worker

playwright = pytest.importorskip("playwright.sync_api")
ARTEFACTS = Path(__file__).parent / "artefacts"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
WAIT = 120_000  # milliseconds; the machine may be busy
OWN = re.compile("(blob:)?http://127.0.0.1:|data:image/svg")
VIOLATIONS = """
  document.addEventListener("securitypolicyviolation",
    (e) => window.violated(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
"""


@pytest.fixture(
    scope="module"
)  # Playwright keeps an event loop running, which others must not meet
def browser():
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    with playwright.sync_playwright() as api:
        try:
            opened = api.chromium.launch(executable_path=path, args=FLAGS)
        except playwright.Error as error:
            pytest.skip(f"no Chromium here: {str(error).splitlines()[0]}")
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    server = Served(tmp_path_factory.mktemp("browser"))
    yield server
    server.stop()


@pytest.fixture
def open_page(browser):
    """Return a function that opens a page on which nothing may go wrong."""
    contexts, wrong = [], []

    def opened(refused=False, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda box: wrong.append(box.message))
        if not refused:
            page.on("console", lambda line: line.type == "error" and wrong.append(line.text))
        page.on("request", lambda r: None if OWN.match(r.url) else wrong.append(r.url))
        page.expose_function("violated", lambda words: wrong.append(words))
        page.add_init_script(VIOLATIONS)
        return page

    yield opened
    for context in contexts:
        context.close()
    # A refused upload is an answer of the service; the browser's console notes it too.
    assert not [text for text in wrong if "status of 422" not in text]


@pytest.fixture
def start_worker(served, tmp_path):
    """Return a function that starts a worker, which is ended with the test."""
    started = []

    def start(*options):
        started.append(worker(served.url, *options, folder=tmp_path))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


class Story:
    """What tests do with a page."""

    def __init__(self, served):
        self.served = served

    def create(self, **changes):
        with self.served.client() as client:
            response = client.post("/studies", json=description(**changes))
            assert response.status_code == 201, response.text

    def enter(self, page, study=None, token=None, **settings):
        page.goto(self.served.url if token is None else f"{self.served.base}?token={token}")
        assert "token" not in page.url
        if study is not None:
            self.go(page, study, **settings)

    def go(self, page, study, **settings):
        from urllib.parse import urlencode

        page.goto(f"{self.served.base}?{urlencode({'study': study, **settings})}")
        self.until(page, "!document.querySelector('#study').hidden")

    def until(self, page, expression):
        """Wait for a condition; the page's policy forbids Playwright's own way, which is eval."""
        deadline = time.monotonic() + WAIT / 1000
        while not page.evaluate(expression):
            assert time.monotonic() < deadline, expression
            page.wait_for_timeout(100)

    def shot(self, page, name, full=True):
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=full)

    def tell_some(self, study, repeats=31):
        """Tell every arm of a study its next pulls."""
        query, wish = {"study": study}, {"n": 50, "repeats": repeats, "owner": "w"}
        with self.served.client() as client:
            tickets = client.post("/ask", params=query, json=wish).json()["tickets"]
            results = [
                {"ticket": t, "values": [evaluate(t["group"], t["arm"], s) for s in t["seeds"]]}
                for t in tickets
            ]
            assert client.post("/tell", params=query, json={"results": results}).json()["new"]

    def tell(self, study, values, n=999, repeats=1):
        """Tell values that a function makes of a ticket."""
        query, wish = {"study": study}, {"n": n, "repeats": repeats, "owner": "w"}
        with self.served.client() as client:
            tickets = client.post("/ask", params=query, json=wish).json()["tickets"]
            results = [{"ticket": t, "values": values(t)} for t in tickets]
            assert client.post("/tell", params=query, json={"results": results}).is_success


@pytest.fixture(scope="session")
def story(served):
    return Story(served)


@pytest.fixture(scope="session")
def measured(story):
    """Return the name of a study of which every arm was pulled 31 times."""
    story.create(name="measured", horizon=30)
    story.tell_some("measured")
    return "measured"


@pytest.fixture(scope="session")
def thousand(story):
    """Return the name of a study with a thousand groups, each pulled once but one."""
    groups = {f"group {i}": [f"arm {i}"] for i in range(1000)}
    story.create(name="thousand", groups=groups, algorithm="te")
    story.tell("thousand", lambda t: [(t["seed"] % 997) / 997, (t["seed"] % 991) / 991])
    return "thousand"


@pytest.fixture(scope="session")
def ended(story):
    """Return the name of a study that has its answer."""
    story.create(name="ended", horizon=200)
    with story.served.client() as client:
        query = {"study": "ended"}
        while True:
            wish = {"n": 100, "repeats": 50, "owner": "w"}
            asked = client.post("/ask", params=query, json=wish).json()
            if asked["state"] != "running":
                return "ended"
            results = [
                {"ticket": t, "values": [evaluate(t["group"], t["arm"], s) for s in t["seeds"]]}
                for t in asked["tickets"]
            ]
            assert client.post("/tell", params=query, json={"results": results}).is_success


@pytest.fixture(scope="session")
def weighed(story):
    """Return the name of a study that asks for the best group of five."""
    groups = {name: [f"{name} {k}" for k in (1, 2)] for name in ("Ada", "Bo", "Cy", "Di", "Eve")}
    goal = {"kind": "best", "weights": [2.0, 1.0], "epsilon": 0.05}
    story.create(name="weighed", groups=groups, goal=goal, algorithm="adaptive", horizon=40)

    def values(ticket):
        worth = 0.2 + 0.15 * list(groups).index(ticket["group"])
        return [
            [float(s % 100 < 100 * worth), float(s % 97 < 97 * (1 - worth))]
            for s in ticket["seeds"]
        ]

    for _ in range(4):
        story.tell("weighed", values, n=100, repeats=20)
    return "weighed"
