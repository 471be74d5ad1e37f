"""The page in a real Chromium: what a person does with it. Screenshots go to `artefacts`."""

import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from serving import READER, Served, description, evaluate, worker

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


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Served(tmp_path_factory.mktemp("browser"))
    yield server
    server.stop()


@pytest.fixture
def open_page(browser):
    """Return a function that opens a page on which nothing may go wrong."""
    contexts, wrong = [], []

    def opened(refused=False, **options):
        context = browser.new_context(**{"viewport": {"width": 1100, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda box: wrong.append(box.message))
        if not refused:
            said = lambda line: wrong.append(line.text) if line.type == "error" else None  # noqa: E731
            page.on("console", said)
        page.on("request", lambda r: None if "//127.0.0.1:" in r.url else wrong.append(r.url))
        return page

    yield opened
    for context in contexts:
        context.close()
    # A refused upload is an answer of the service; the browser's console notes it too.
    assert not [text for text in wrong if "status of 422" not in text]


def create(served, **changes):
    with served.client() as client:
        response = client.post("/studies", json=description(**changes))
        assert response.status_code == 201, response.text


def enter(page, served, study=None, token=None):
    url = served.url if token is None else f"{served.base}?token={token}"
    page.goto(url)
    assert "token" not in page.url
    if study is not None:
        page.get_by_role("link", name=study, exact=True).click()
        page.locator("#numbers li").first.wait_for()


def until(page, expression):
    """Wait for a condition; the page's policy forbids Playwright's own way, which is eval."""
    deadline = time.monotonic() + WAIT / 1000
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(100)


def told(page):
    return int(page.locator("#numbers .n-observations strong").inner_text().replace(",", ""))


def shot(page, name):
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png", full_page=True)


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


def test_watch_a_study_from_nothing_to_proven(served, open_page, start_worker):
    create(served, name="watched", horizon=20)
    page = open_page()
    enter(page, served)
    page.get_by_role("link", name="watched").wait_for()
    shot(page, "list")
    enter(page, served, "watched")
    assert "no group yet" in page.locator("#answer").inner_text()
    assert page.locator("#blockers").inner_text() == "Nothing is measured yet."
    process = start_worker("--study", "watched", "--jobs", "2", "--batch", "20")
    until(page, "Number(document.querySelector('#study').dataset.observed) > 200")
    shot(page, "running")
    page.reload()
    until(page, "Number(document.querySelector('#study').dataset.told) > 300")
    assert told(page) > 300
    page.locator("#numbers .n-state strong", has_text="done").wait_for()
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert '"state": "done"' in out
    page.get_by_text("Final: alpha, beta.").wait_for()
    page.locator("#groups .status.out").first.wait_for()
    until(
        page, "(({told, observed}) => told === observed)(document.querySelector('#study').dataset)"
    )
    assert page.locator("#plane .box").count() == 3 and page.locator("#plane .front").count() == 1
    assert page.locator("#workers tbody tr").count() >= 1
    shot(page, "proven")
    page.get_by_role("button", name="gamma").click()
    page.get_by_text("gamma is out: ").wait_for()
    assert "decided it in plan" in page.locator("#why-sentence").inner_text()
    shot(page, "explanation")
    page.keyboard.press("Escape")
    assert not page.locator("#why").is_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="All observations (CSV)").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0] == "group,arm,index,profit,speed" and len(lines) == told(page) + 1


def test_tell_by_hand_with_the_keyboard_only(served, open_page):
    create(served, name="by hand")
    page = open_page()
    enter(page, served, "by hand")
    page.locator("#take").focus()
    page.keyboard.press("Enter")
    page.locator("#value-0").wait_for()
    assert "Measure a1 of alpha" in page.locator("#ticket").inner_text()
    page.keyboard.type("many")
    page.keyboard.press("Tab")
    page.keyboard.type("0.5")
    page.keyboard.press("Enter")
    page.get_by_text("profit must be a number.").wait_for()
    page.locator("#value-0").fill("7")
    page.keyboard.press("Enter")
    page.locator("#hand-said.bad").wait_for()
    assert "between 0 and 1" in page.locator("#hand-said").inner_text()
    shot(page, "by-hand")
    page.locator("#value-0").fill("0.75")
    page.keyboard.press("Enter")
    page.get_by_text("Thank you, it is kept.").wait_for()
    until(page, "document.querySelector('#study').dataset.told === '1'")


def test_upload_a_table_with_a_bad_row_and_a_good_one(served, open_page, tmp_path):
    create(served, name="table")
    page = open_page()
    enter(page, served, "table")
    rows = [("alpha", "a1"), ("beta", "b1"), ("gamma", "c2")] * 20
    lines = [",".join([*arm, *map(str, evaluate(*arm, seed))]) for seed, arm in enumerate(rows)]
    head = "group,arm,profit,speed"
    file = tmp_path / "observations.csv"
    file.write_text("\n".join([head, *lines[:5], "alpha,a1,many,0", *lines[5:]]))
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    page.get_by_text("line 7: profit must be a number; got 'many'").wait_for()
    shot(page, "bad-row")
    assert told(page) == 0
    file.write_text("\n".join([head, *lines]))
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    page.get_by_text("60 observations are kept.").wait_for()
    until(page, "document.querySelector('#study').dataset.told === '60'")


def test_names_show_as_text_and_readers_only_look(served, open_page):
    nasty = "<img src=x onerror=alert(1)>"
    script = "<script>alert(2)</script>"
    create(served, name=script, groups={nasty: ["<b>bold</b>", "</svg>"], "plain": ["x"]})
    page = open_page()
    enter(page, served, script, READER)
    assert page.locator("#summary-head").inner_text() == script
    page.get_by_role("button", name=nasty).click()
    page.locator("#why-arms").get_by_text("<b>bold</b>").wait_for()
    assert page.locator("#why-head").inner_text() == nasty
    assert not page.locator("#writing").is_visible()
    shot(page, "names")


def test_the_page_survives_a_restart_of_the_server(open_page, tmp_path):
    server = Served(tmp_path)
    create(server, name="restarted")
    page = open_page(refused=True)
    enter(page, server, "restarted")
    page.locator("#live.on").wait_for()
    server.kill()
    page.get_by_text("not connected").wait_for()
    server.start()
    page.locator("#live.on").wait_for()
    with server.client() as client:
        query = {"study": "restarted"}
        ticket = client.post("/ask", params=query, json={"owner": "w"}).json()["tickets"][0]
        body = {"results": [{"ticket": ticket, "values": [1, 0]}]}
        assert client.post("/tell", params=query, json=body).is_success
    until(page, "document.querySelector('#study').dataset.told === '1'")
    server.stop()


@pytest.fixture(scope="module")
def thousand(served):
    """Return the name of a study with a thousand groups, each pulled once."""
    groups = {f"group {i}": [f"arm {i}"] for i in range(1000)}
    create(served, name="thousand", groups=groups, algorithm="te")
    with served.client() as client:
        query = {"study": "thousand"}
        asked = client.post("/ask", params=query, json={"n": 999, "owner": "w"}).json()
        results = [
            {"ticket": t, "values": [(t["seed"] % 997) / 997, (t["seed"] % 991) / 991]}
            for t in asked["tickets"]
        ]
        assert client.post("/tell", params=query, json={"results": results}).is_success
    return "thousand"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_thousand_groups_on_a_phone(served, thousand, open_page, scheme):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "color_scheme": scheme}
    page = open_page(**phone)
    enter(page, served, thousand)
    until(page, "document.querySelectorAll('#plane .dot').length === 999")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    assert page.locator("#groups tbody tr").count() == 25
    page.get_by_role("button", name="On", exact=True).click()
    page.get_by_text("26 to 50 of 1,000").wait_for()
    page.get_by_label("Find").fill("group 99")
    page.get_by_text("1 to 11 of 11").wait_for()
    assert "search=group+99" in page.url
    shot(page, f"phone-{scheme}")


@pytest.mark.verify
def test_a_million_observations_of_a_thousand_groups(served, open_page):
    groups = {f"group {i}": [f"arm {i}"] for i in range(1000)}
    create(served, name="million", groups=groups, horizon=1000)
    rows = np.random.default_rng(0).random((1000, 1001, 2)).round(4)
    query = {"study": "million"}
    with served.client() as client:
        for portion in range(50):
            wish = {"n": 20, "repeats": 1001, "owner": "w", "lease": 3600}
            tickets = client.post("/ask", params=query, json=wish).json()["tickets"]
            results = [
                {"ticket": t, "values": rows[20 * portion + k, : t["repeats"]].tolist()}
                for k, t in enumerate(tickets)
            ]
            if portion == 49:  # one arm is left out, so that the plan stays open
                results.pop()
            assert client.post("/tell", params=query, json={"results": results}).is_success
        size = len(client.get("/view", params=query).content)
    page = open_page()
    page.goto(served.url)
    begun = time.monotonic()
    page.goto(f"{served.base}?study=million")
    until(page, "Number(document.querySelector('#study').dataset.observed) > 990000")
    filled = time.monotonic() - begun
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    print(f"{told(page):,} observations: first paint {paint:.0f} ms, filled {filled:.1f} s, ")
    print(f"an update {size / 1000:.0f} kB")
    assert paint < 2000 and size < 200_000
    shot(page, "million")
