"""The page in a real Chromium: what a person does with it. Screenshots go to `artefacts`."""

import json
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from serving import MEANS, READER, Served, description, evaluate, worker

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
MARKS = "document.querySelectorAll('#plane .points .point').length"


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


def boxes(page):
    """Return how many boxes of each status are painted: a stretch of its line each."""
    found = """
      Object.fromEntries(["in", "undecided", "out"].map((status) =>
        [status, document.querySelectorAll(`#plane .traceboxes-${status} .js-line`).length]))
    """
    return page.evaluate(found)


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
    assert not page.locator("#intervals").is_visible() and not page.locator("#plane").is_visible()
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
    assert page.evaluate(MARKS) == 3 and boxes(page) == {"in": 2, "undecided": 0, "out": 1}
    assert page.evaluate("document.querySelectorAll('#arms .bars .point').length") == 5
    assert page.locator("#intervals .chart .xerror").count() == 6
    assert "2 groups in, 0 undecided, 1 out" in page.locator("#plane").get_attribute("aria-label")
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
    page.locator("#hand-said.bad", has_text="between 0 and 1").wait_for()
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
    page.get_by_text("line 7: profit must be a finite number; got 'many'").wait_for()
    shot(page, "bad-row")
    assert told(page) == 0
    file.write_text("\n".join([head, *lines]))
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    page.get_by_text("60 observations are kept.").wait_for()
    until(page, "document.querySelector('#study').dataset.told === '60'")


TOML = """
name = "from a file"
delta = 0.1
algorithm = "te"
[goal]
kind = "pareto"
epsilon = 0.1
[dims]
profit = "max"
cost = "min"
[noise]
kind = "subgaussian"
scale = 1.0
[groups]
A = ["a1", "a2"]
B = ["b1"]
"""


def test_make_a_study_and_remove_it(served, open_page, tmp_path):
    page = open_page()
    enter(page, served)
    page.locator("#make-text").fill(TOML.replace("epsilon", "epsilom"))
    page.get_by_role("button", name="Create").click()
    page.get_by_text("goal.epsilom").wait_for()
    shot(page, "make")
    file = tmp_path / "problem.toml"
    file.write_text(TOML)
    page.locator("#make-file").set_input_files(file)
    until(page, "document.querySelector('#make-text').value.includes('epsilon')")
    page.get_by_role("button", name="Create").click()
    page.get_by_text("2 groups, 3 arms; profit (max), cost (min)").wait_for()
    page.get_by_role("button", name="Remove…").click()
    assert page.locator("#remove-sure").is_disabled()
    page.keyboard.type("from a file")
    shot(page, "remove")
    page.keyboard.press("Enter")
    page.locator("#list").wait_for()
    page.locator("#studies tbody tr, #no-studies").first.wait_for()
    assert page.get_by_role("link", name="from a file").count() == 0
    page.locator("#make-text").fill(json.dumps(description()))
    page.locator("#make-name").fill("from JSON")
    page.get_by_role("button", name="Create").click()
    page.get_by_text("3 groups, 5 arms").wait_for()
    reader = open_page()
    enter(reader, served, "from JSON", READER)
    assert not reader.locator("#removing").is_visible()


def test_names_show_as_text_and_readers_only_look(served, open_page):
    nasty = "<img src=x onerror=alert(1)>"
    link = '<a href="http://evil.example">x</a>&amp;'
    script = "<script>alert(2)</script>"
    dims = ("<b>profit</b>", "$x^2$ %{x}")
    groups = {nasty: ["<b>bold</b>", "</svg>"], link: ["x"]}
    create(served, name=script, groups=groups, dims=dims, horizon=1)
    with served.client() as client:
        query = {"study": script}
        asked = client.post("/ask", params=query, json={"n": 9, "owner": "<i>w</i>"}).json()
        results = [
            {"ticket": t, "values": [0.9 if t["group"] == nasty else 0.1, 0.5]}
            for t in asked["tickets"]
        ]
        assert client.post("/tell", params=query, json={"results": results}).is_success
    page = open_page()
    enter(page, served, script, READER)
    assert page.locator("#summary-head").inner_text() == script
    until(page, f"{MARKS} === 2")
    labels = page.locator("#plane .textpoint, #plane .points text").all_text_contents()
    assert sorted(labels) == sorted([f"{nasty[:23]}…", f"{link[:23]}…"])
    assert page.locator("#plane .xtitle").text_content() == "<b>profit</b> (max)"
    assert page.locator("#plane .ytitle").text_content() == "$x^2$ %{x} (max)"
    found = set()
    for mark in page.locator("#plane .points .point").all():
        mark.hover(force=True)
        hover = page.locator("#plane .hoverlayer .line").first
        hover.wait_for()
        found.add(hover.text_content())
        assert "$x^2$ %{x}" in page.locator("#plane .hoverlayer").text_content()
        page.mouse.move(5, 5)
        until(page, "document.querySelectorAll('#plane .hoverlayer .line').length === 0")
    assert found == {nasty, link}
    ticks = page.locator("#arms .ytick").all_text_contents()
    assert any(tick.startswith("<b>bold</b> (<img") for tick in ticks) and len(ticks) == 3
    assert page.locator(".chart a, .chart image, .chart b").count() == 0
    page.get_by_role("button", name=nasty).click()
    page.locator("#why-arms").get_by_text("<b>bold</b>").wait_for()
    assert page.locator("#why-head").inner_text() == nasty
    assert not page.locator("#writing").is_visible()
    page.keyboard.press("Escape")
    shot(page, "names")


def tell_some(served, study):
    """Tell every arm of a study its next pulls."""
    query, wish = {"study": study}, {"n": 50, "repeats": 31, "owner": "w"}
    with served.client() as client:
        tickets = client.post("/ask", params=query, json=wish).json()["tickets"]
        results = [
            {"ticket": t, "values": [evaluate(t["group"], t["arm"], s) for s in t["seeds"]]}
            for t in tickets
        ]
        assert client.post("/tell", params=query, json={"results": results}).json()["new"]


@pytest.fixture(scope="module")
def measured(served):
    """Return the name of a study of which every arm was pulled 31 times."""
    create(served, name="measured", horizon=30)
    tell_some(served, "measured")
    return "measured"


def test_a_zoom_survives_updates_and_a_chart_can_be_kept(served, measured, open_page):
    page = open_page()
    enter(page, served, measured)
    until(page, f"{MARKS} === 3")
    at = page.locator("#plane .nsewdrag").bounding_box()
    page.mouse.move(at["x"] + 0.4 * at["width"], at["y"] + 0.3 * at["height"])
    page.mouse.down()
    page.mouse.move(at["x"] + 0.8 * at["width"], at["y"] + 0.9 * at["height"], steps=5)
    page.mouse.up()
    ranges = "document.querySelector('#plane')._fullLayout.xaxis.range"
    until(page, f"{ranges}[1] - {ranges}[0] < 0.9")
    kept = page.evaluate(ranges)
    points = "JSON.stringify(document.querySelector('#plane').data.map((t) => t.x))"
    before = page.evaluate(points)
    tell_some(served, measured)
    until(page, f"{points} !== {before!r}")
    assert page.evaluate(ranges) == kept
    page.locator("#plane .nsewdrag").dblclick()
    until(page, f"{ranges}[1] - {ranges}[0] > 0.9")
    with page.expect_download() as download:
        page.get_by_label("Download plot").first.click(force=True)
    assert download.value.suggested_filename == "bestgroup-plane.svg"
    assert download.value.path().read_text().startswith("<svg")


def test_the_scheme_changes_under_the_charts(served, measured, open_page):
    page = open_page(color_scheme="light")
    enter(page, served, measured)
    until(page, f"{MARKS} === 3")
    page.locator("#plane .points .point").last.click(force=True)
    page.locator("#why").wait_for()
    assert page.locator("#why-head").inner_text() in MEANS
    page.keyboard.press("Escape")
    paper = "document.querySelector('#plane')._fullLayout.paper_bgcolor"
    assert page.evaluate(paper) == "#f5f7f9"
    page.emulate_media(color_scheme="dark")
    until(page, f"{paper} === '#1d2329'")
    sizes = """[...document.querySelectorAll(".chart .main-svg:first-child")]
      .map((svg) => [svg.clientWidth, svg.clientHeight])"""
    before = page.evaluate(sizes)
    page.set_viewport_size({"width": 700, "height": 900})
    until(page, f"{sizes}.every(([width]) => width < 700)")
    assert len(before) == 4 and all(height > 60 for _, height in page.evaluate(sizes))
    assert [height for _, height in page.evaluate(sizes)] == [height for _, height in before]
    shot(page, "dark")


def test_without_the_charting_library_the_tables_stay(served, measured, open_page):
    def without(route):
        answer = route.fetch()
        text, times = re.subn('<meta name="plotly"[^>]*>', "", answer.text())
        assert times == 1
        route.fulfill(response=answer, body=text)

    page = open_page()
    page.goto(served.url)
    page.route("**/?study=*", without)
    page.goto(f"{served.base}?study={measured}")
    page.get_by_text("pip install 'bestgroup[server]'").wait_for()
    assert page.locator("#groups tbody tr").count() == 3
    assert not page.locator("#plane-section").is_visible()
    assert page.locator("#arms-table tbody tr").count() == 5
    assert page.locator("#arms-table tbody tr").first.is_visible()
    shot(page, "no-charts")


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
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = open_page(**phone, color_scheme=scheme)
    enter(page, served, thousand)
    until(page, f"{MARKS} === 999")
    # A finger on a chart scrolls the page.
    assert page.evaluate("document.querySelector('#plane')._fullLayout.dragmode") is False
    assert sum(boxes(page).values()) == 999
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
    until(page, f"{MARKS} === 999")
    assert sum(boxes(page).values()) == 999
    draw = """(() => {
      const begun = performance.now(), node = document.querySelector("#plane");
      Plotly.react(node, JSON.parse(JSON.stringify(node.data)), node.layout);
      return performance.now() - begun;
    })()"""
    packed = (
        "performance.getEntriesByType('resource').find((r) => /plotly/.test(r.name)).transferSize"
    )
    print(f"the plane is drawn in {page.evaluate(draw):.0f} ms")
    print(f"plotly.js is {page.evaluate(packed) / 1e6:.2f} MB on the wire")
    assert paint < 2000 and size < 200_000
    shot(page, "million")
