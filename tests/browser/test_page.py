"""What a person does with the page: watching, telling, uploading, making and removing studies."""

import json
import re
import time

import numpy as np
import pytest

from serving import READER, Served, description, evaluate

TOLD = "Number(document.querySelector('#study').dataset.told)"
OBSERVED = "Number(document.querySelector('#study').dataset.observed)"


def test_watch_a_study_from_nothing_to_proven(story, open_page, start_worker):
    story.create(name="watched", horizon=20)
    page = open_page()
    story.enter(page)
    page.get_by_role("link", name="watched").click()
    page.get_by_text("Nothing is measured yet").first.wait_for()
    assert page.locator("#headline").inner_text() == "Nothing is known yet"
    line = page.locator("#work-line").inner_text()
    assert line.startswith("bestgroup work 'http://127.0.0.1:") and "--study watched" in line
    assert not page.locator("#plane").is_visible()
    story.shot(page, "nothing")
    process = start_worker("--study", "watched", "--jobs", "2", "--batch", "20")
    story.until(page, f"{OBSERVED} > 200")
    story.shot(page, "running")
    page.reload()
    story.until(page, f"{TOLD} > 300")
    page.locator("#state.done").wait_for()
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert '"state": "done"' in out
    page.get_by_role("heading", name="alpha and beta are the Pareto set").wait_for()
    story.until(page, f"{TOLD} === {OBSERVED}")
    counts = [text.split() for text in page.locator("#counts li").all_inner_texts()]
    assert counts == [["2", "in"], ["1", "out"], ["0", "not", "needed"], ["0", "undecided"]]
    assert page.locator("#bar svg").get_attribute("aria-label") == "2 in, 1 out"
    assert page.locator("#progress-share").inner_text() == "Proven"
    assert page.locator("#plane .point").count() == 3 and page.locator("#plane .box").count() == 3
    assert "2 in, 0 undecided" in page.locator("#plane svg").first.get_attribute("aria-label")
    assert page.locator("#guarantee-text").inner_text().startswith("Proven: ")
    assert page.locator("#assumptions li").count() >= 3
    page.locator("#short-groups").get_by_role("link", name="gamma").click()
    page.get_by_text("gamma is out (").wait_for()
    assert "decided it in plan" in page.locator("#why-sentence").inner_text()
    assert "decided by the algorithm" in page.locator("#why-status").inner_text()
    story.shot(page, "explanation")
    page.keyboard.press("Escape")
    assert not page.locator("#why").is_visible() and "why=" not in page.url
    page.get_by_role("link", name="Data", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="All observations (CSV)").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0] == "group,arm,index,profit,speed" and len(lines) == page.evaluate(TOLD) + 1


def test_every_view_has_an_address_and_back_leads_back(story, measured, open_page):
    page = open_page()
    story.enter(page, measured)
    for view in ("Groups", "Course", "Arms and items", "Workers", "Data"):
        page.get_by_role("link", name=view, exact=True).click()
        current = page.locator("#tabs a[aria-current]")
        assert current.inner_text() == view
        assert f"view={view.split()[0].lower()}" in page.url
        page.locator(".view:visible").first.wait_for()
    page.go_back()
    assert page.locator("#tabs a[aria-current]").inner_text() == "Workers"
    page.get_by_role("link", name="Groups", exact=True).click()
    page.locator("#groups").get_by_role("link", name="beta").click()
    page.locator("#why-head", has_text="beta").wait_for()
    address = page.url
    assert "why=beta" in address and "view=groups" in address
    page.go_back()
    page.locator("#why").wait_for(state="hidden")
    assert page.locator("#tabs a[aria-current]").inner_text() == "Groups"
    page.go_forward()
    page.locator("#why-head", has_text="beta").wait_for()
    other = page.context.new_page()
    other.goto(address)
    other.locator("#why-head", has_text="beta").wait_for()
    other.locator("#why-shut").click()
    other.locator("#why").wait_for(state="hidden")


def test_headings_sort_and_the_table_is_filtered_and_paged(story, thousand, open_page):
    page = open_page()
    story.enter(page, thousand, view="groups")
    page.get_by_text("1 to 25 of 1,000").wait_for()
    page.get_by_role("button", name="profit").click()
    page.locator('th[aria-sort="descending"]', has_text="profit").wait_for()
    assert "sort=dim%3Aprofit" in page.url

    def first():
        return page.locator("#groups tbody tr .interval-text").first.inner_text()

    best = float(first().split()[0])
    assert best > 0.9
    page.get_by_role("button", name="profit").click()
    page.locator('th[aria-sort="ascending"]', has_text="profit").wait_for()
    story.until(page, "document.querySelector('#groups .interval-text') !== null")
    page.get_by_role("button", name="Next").click()
    page.get_by_text("26 to 50 of 1,000").wait_for()
    page.locator("#groups-search").fill("group 99")
    page.get_by_text("11 groups of 1,000").wait_for()
    assert "search=group+99" in page.url
    page.get_by_role("button", name=re.compile("^Undecided")).click()
    page.get_by_role("button", name=re.compile("^In ")).click()
    page.get_by_text("No group matches.").wait_for()
    page.go_back()
    page.get_by_text("11 groups of 1,000").wait_for()
    page.reload()
    page.get_by_text("11 groups of 1,000").wait_for()
    assert page.locator("#groups-search").input_value() == "group 99"


def test_names_never_break_inside_a_word(story, open_page):
    long = "Donaudampfschifffahrtsgesellschaftskapitaensmuetze" * 2
    groups = {long: ["x" * 90], "two words": ["b"], "c": ["c"]}
    story.create(name="long names", groups=groups, horizon=1)
    story.tell("long names", lambda t: [0.5, 0.5])
    for width in (1280, 390):
        page = open_page(viewport={"width": width, "height": 800})
        story.enter(page, "long names", view="groups")
        page.locator("#groups tbody tr").nth(2).wait_for()
        names = "[...document.querySelectorAll('#groups .name')]"
        heights = page.evaluate(f"{names}.map((node) => node.offsetHeight)")
        assert max(heights) < 50, heights  # one line, or two for two words
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width


def test_tell_by_hand_with_the_keyboard_only(story, open_page):
    story.create(name="by hand")
    page = open_page()
    story.enter(page)
    page.get_by_role("link", name="by hand").wait_for()

    def tab_to(selector, most=60):
        for _ in range(most):
            if page.evaluate(f"document.activeElement?.matches({selector!r})"):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"the tab key does not reach {selector}")

    tab_to("#studies a[data-key='by hand']")
    page.keyboard.press("Enter")
    page.get_by_text("Nothing is measured yet").first.wait_for()
    tab_to("#tabs a:nth-child(5)")
    page.keyboard.press("Enter")
    page.locator("#take").wait_for()
    tab_to("#take")
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
    story.shot(page, "by-hand")
    page.locator("#value-0").fill("0.75")
    page.keyboard.press("Enter")
    page.get_by_text("Thank you, it is kept.").wait_for()
    story.until(page, f"{TOLD} === 1")
    page.keyboard.press("Shift+Tab")
    tab_to("#take")  # the focus is still in the form


def test_the_keyboard_walks_the_plane_sorts_and_explains(story, ended, open_page):
    page = open_page()
    story.enter(page, ended)
    plane = page.locator("#plane svg").first
    plane.wait_for()
    story.until(page, f"{TOLD} === {OBSERVED}")
    plane.focus()
    page.keyboard.press("ArrowRight")
    page.locator("#plane .tip", has_text="gamma").wait_for()
    assert "is better in every dim" in page.locator("#plane .tip").inner_text()
    assert page.locator("#plane .beats").count() == 1
    page.keyboard.press("Enter")
    page.locator("#why-head", has_text="gamma").wait_for()
    page.keyboard.press("Escape")
    page.locator("#why").wait_for(state="hidden")
    page.goto(f"{page.url}&view=groups")
    page.get_by_role("button", name="Group", exact=True).focus()
    page.keyboard.press("Enter")
    page.locator('th[aria-sort="ascending"]', has_text="Group").wait_for()
    assert page.evaluate("document.activeElement.dataset.key") == "sort-name"
    page.keyboard.press("Enter")
    page.locator('th[aria-sort="descending"]', has_text="Group").wait_for()


def test_upload_a_table_with_a_bad_row_and_a_good_one(story, open_page, tmp_path):
    story.create(name="table")
    page = open_page()
    story.enter(page, "table", view="data")
    rows = [("alpha", "a1"), ("beta", "b1"), ("gamma", "c2")] * 20
    lines = [",".join([*arm, *map(str, evaluate(*arm, seed))]) for seed, arm in enumerate(rows)]
    head = "group,arm,profit,speed"
    file = tmp_path / "observations.csv"
    file.write_text("\n".join([head, *lines[:5], "alpha,a1,many,0", *lines[5:]]))
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    page.get_by_text("line 7: profit must be a finite number; got 'many'").wait_for()
    story.shot(page, "bad-row")
    file.write_text("\n".join([head, *lines]))
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    page.get_by_text("60 observations are kept.").wait_for()
    page.get_by_role("link", name="Overview").click()
    story.until(page, f"{TOLD} === 60")


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


def test_make_a_study_and_remove_it(story, served, open_page, tmp_path):
    page = open_page()
    story.enter(page)
    page.get_by_role("button", name="New study").click()
    page.locator("#make-text").fill(TOML.replace("epsilon", "epsilom"))
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_text("goal.epsilom").wait_for()
    story.shot(page, "make", full=False)
    file = tmp_path / "problem.toml"
    file.write_text(TOML)
    page.locator("#make-file").set_input_files(file)
    story.until(page, "document.querySelector('#make-text').value.includes('epsilon')")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_text("2 groups, 3 arms; profit (max), cost (min)").wait_for()
    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("button", name="Remove…").click()
    assert page.locator("#remove-sure").is_disabled()
    page.keyboard.type("from a file")
    story.shot(page, "remove", full=False)
    page.keyboard.press("Enter")
    page.locator("#list").wait_for()
    page.locator("#studies tbody tr, #list-none").first.wait_for()
    assert page.get_by_role("link", name="from a file").count() == 0
    page.get_by_role("button", name="New study").click()
    page.locator("#make-text").fill(json.dumps(description()))
    page.locator("#make-name").fill("from JSON")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_text("3 groups, 5 arms").wait_for()
    reader = open_page()
    story.enter(reader, "from JSON", READER, view="data")
    reader.get_by_text("Report and downloads").wait_for()
    for hidden in ("#removing", "#upload"):
        assert not reader.locator(hidden).is_visible()
    assert reader.locator("#role").inner_text() == "reader"
    assert "bestgroup 0." in reader.locator("#foot").inner_text()


def test_a_demo_study_with_the_servers_own_worker(open_page, tmp_path):
    server = Served(tmp_path)
    page = open_page()
    page.goto(server.url)
    page.get_by_text("No studies yet").wait_for()
    page.get_by_role("button", name="Make a demo study").click()
    page.locator("#headline").wait_for()
    deadline = time.monotonic() + 120
    while int(page.evaluate("document.querySelector('#study').dataset.told ?? 0")) < 100:
        assert time.monotonic() < deadline
        page.wait_for_timeout(200)
    page.get_by_role("link", name="Workers", exact=True).click()
    page.get_by_text("the server's own worker", exact=True).wait_for()
    assert not page.locator("#demo-again").is_visible()
    page.close()
    server.stop()


def test_the_list_is_searched_filtered_and_sorted(story, ended, measured, open_page):
    page = open_page()
    story.enter(page)
    page.get_by_role("link", name="measured").wait_for()
    page.get_by_role("button", name="Done", exact=True).click()
    page.get_by_role("link", name="measured").wait_for(state="detached")
    page.get_by_role("link", name="ended").wait_for()
    assert "only=done" in page.url
    row = page.locator("#studies tbody tr", has=page.get_by_role("link", name="ended"))
    assert "Pareto optimal groups of 3" in row.inner_text()
    assert ("all decided" in row.inner_text() and "ago" in row.inner_text()) or "just now" in (
        row.inner_text()
    )
    page.get_by_role("button", name="All", exact=True).click()
    page.locator("#list-search").fill("no such name")
    page.get_by_text("No study matches.").wait_for()
    page.locator("#list-search").fill("MEAS")
    page.get_by_role("link", name="measured").wait_for()
    page.get_by_role("button", name="Study", exact=True).click()
    page.locator('th[aria-sort="ascending"]').wait_for()
    story.shot(page, "list")


def test_names_show_as_text_and_readers_only_look(story, served, open_page):
    nasty = "<img src=x onerror=alert(1)>"
    link = '<a href="http://evil.example">x</a>&amp;'
    script = "<script>alert(2)</script>"
    dims = ("<b>profit</b>", "$x^2$ %{x}")
    groups = {nasty: ["<b>bold</b>", "</svg>"], link: ["x"]}
    story.create(name=script, groups=groups, dims=dims, horizon=1)
    story.tell(script, lambda t: [0.9 if t["group"] == nasty else 0.1, 0.5], n=9)
    page = open_page()
    story.enter(page, script, READER)
    assert page.locator("#crumb-name").inner_text() == script
    story.until(page, "document.querySelectorAll('#plane .point').length === 2")
    labels = page.locator("#plane .label").all_text_contents()
    assert sorted(labels) == sorted([f"{nasty[:23]}…", f"{link[:23]}…"])
    titles = page.locator("#plane .title").all_text_contents()
    assert titles == ["<b>profit</b>  better →", "$x^2$ %{x}  better →"]
    assert page.locator(".chart a, .chart image, .chart b").count() == 0
    page.locator("#short-groups").get_by_role("link", name=nasty).click()
    page.locator("#why-arms").get_by_text("<b>bold</b>").wait_for()
    assert page.locator("#why-head").inner_text() == nasty
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Workers", exact=True).click()
    page.get_by_text("w", exact=True).first.wait_for()
    assert not page.locator("#hand").is_visible()
    assert r"--study '<script>alert(2)</script>'" in page.locator("#work-line-2").inner_text()


def test_the_page_survives_a_restart_of_the_server(open_page, tmp_path):
    server = Served(tmp_path)
    with server.client() as client:
        assert client.post("/studies", json=description(name="restarted")).status_code == 201
    page = open_page(refused=True)
    page.goto(server.url)
    page.get_by_role("link", name="restarted").click()
    page.locator("#live.on").wait_for()
    server.kill()
    page.get_by_text("The server does not answer since").wait_for()
    assert page.locator("#live").inner_text() == "not connected"
    page.screenshot(path=tmp_path / "lost.png")
    server.start()
    page.locator("#live.on").wait_for()
    assert not page.locator("#lost").is_visible()
    with server.client() as client:
        query = {"study": "restarted"}
        ticket = client.post("/ask", params=query, json={"owner": "w"}).json()["tickets"][0]
        body = {"results": [{"ticket": ticket, "values": [1, 0]}]}
        assert client.post("/tell", params=query, json=body).is_success
        deadline = time.monotonic() + 60
        while page.evaluate("document.querySelector('#study').dataset.told") != "1":
            assert time.monotonic() < deadline
            page.wait_for_timeout(100)
        assert client.delete("/study", params=query).is_success
    page.reload()
    page.get_by_role("heading", name="There is no such study").wait_for()
    page.get_by_role("link", name="All studies").click()
    page.locator("#list").wait_for()
    server.stop()


def test_without_a_stream_of_events_the_page_goes_on_by_asking(story, open_page):
    story.create(name="crowded", horizon=50)
    page = open_page(refused=True)
    page.route("**/api/v1/events?*", lambda route: route.fulfill(status=429, body="{}"))
    story.enter(page, "crowded")
    page.get_by_text("Nothing is measured yet").first.wait_for()
    story.tell_some("crowded", 3)
    page.locator("#counts li").first.wait_for()
    story.until(page, "document.querySelector('#study').dataset.told > 0")
    assert not page.locator("#lost").is_visible()


def test_a_stranger_signs_in_and_gets_where_he_wanted(story, measured, served, open_page):
    page = open_page(refused=True)
    page.goto(f"{served.base}?study={measured}&view=groups")
    page.get_by_role("heading", name="Sign in").wait_for()
    story.shot(page, "sign-in")
    page.get_by_label("Token").fill("not the token of it")
    page.get_by_role("button", name="Open").click()
    page.get_by_text("That is not a token of this server").wait_for()
    page.get_by_label("Token").fill(READER)
    page.keyboard.press("Enter")
    page.locator("#groups tbody tr").first.wait_for()
    assert "view=groups" in page.url and "token" not in page.url
    page.goto(f"{served.base}nowhere")
    page.get_by_role("heading", name="There is no such page").wait_for()
    story.shot(page, "missing")
    page.get_by_role("link", name="All studies").click()
    page.locator("#list").wait_for()


@pytest.mark.verify
def test_a_million_observations_of_a_thousand_groups(story, served, open_page):
    groups = {f"group {i}": [f"arm {i}"] for i in range(1000)}
    story.create(name="million", groups=groups, horizon=1000)
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
    story.until(page, f"{OBSERVED} > 990000")
    filled = time.monotonic() - begun
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    sent = "performance.getEntriesByType('resource').reduce((n, r) => n + r.transferSize, 0)"
    print(f"{page.evaluate(TOLD):,} observations: first paint {paint:.0f} ms, ", end="")
    print(f"filled {filled:.1f} s, an update {size / 1000:.0f} kB, ", end="")
    print(f"all of the page {page.evaluate(sent) / 1000:.0f} kB")
    story.until(page, "document.querySelectorAll('#plane .point').length === 999")
    draw = """(() => {
      const holder = document.querySelector("#plane"), begun = performance.now();
      holder.work(holder);
      return performance.now() - begun;
    })()"""
    print(f"the plane is drawn in {page.evaluate(draw):.0f} ms")
    assert paint < 2000 and size < 200_000
    story.shot(page, "million")


def test_characters_that_turn_the_text_around_are_shown(story, open_page):
    name, group = "turned \u202e study", "alpha\u202eahpla"
    groups = {group: ["\u2066arm\u2069"], "beta": ["b1"], "gamma": ["c1"]}
    story.create(name=name, groups=groups)
    story.tell(name, lambda t: [0.5, 0.25])
    page = open_page()
    story.enter(page)
    page.locator("#studies tbody tr").first.wait_for()
    assert r"turned \u202e study" in page.locator("#studies").inner_text()
    for view in ("overview", "groups", "arms", "course", "workers", "data"):
        story.go(page, name, view=view)
        page.wait_for_timeout(300)
        text = page.evaluate("document.body.innerText + document.title")
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", text), view
        assert r"turned \u202e study" in text, view
    story.go(page, name, why=group)  # names are still what they are
    page.locator("#why").wait_for()
    assert page.locator("#why-head").inner_text() == r"alpha\u202eahpla"


def test_no_group_that_keeps_the_limits_is_an_answer_in_words(story, open_page):
    dims = {"gain": "max", "seconds": "watch"}
    problem = {
        "groups": {"A": ["a"], "B": ["b"]},
        "dims": dims,
        "noise": {"kind": "subgaussian", "scale": [0.1, 0.1]},
        "require": {"seconds": ["<=", 0.5]},
    }
    with story.served.client() as client:
        body = {"name": "barred", "problem": problem, "goal": {"kind": "pareto", "epsilon": 0.1}}
        response = client.post("/studies", json={**body, "delta": 0.05})
        assert response.status_code == 201, response.text
        query, wish = {"study": "barred"}, {"n": 50, "owner": "w"}
        while tickets := client.post("/ask", params=query, json=wish).json()["tickets"]:
            results = [{"ticket": t, "values": [0.5, 2.0]} for t in tickets]
            assert client.post("/tell", params=query, json={"results": results}).is_success
    page = open_page()
    story.enter(page, "barred")
    page.locator("#headline").wait_for()
    assert page.locator("#headline").inner_text() == "No group has an arm that keeps the limits"
