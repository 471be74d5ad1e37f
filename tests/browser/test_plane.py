"""The chart of two dims: what it draws of few groups and of many, on hover, and when zoomed."""

import pytest

POINTS = "document.querySelectorAll('#plane .point').length"


def centre(page, expression):
    box = page.evaluate(f"{expression}.getBoundingClientRect().toJSON()")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.fixture(scope="module")
def three_hundred(story):
    """Return the name of a study of 300 groups: 40 on a front, the others well below it."""
    groups = {f"bundle {i}": [f"arm {i}"] for i in range(300)}
    noise = {"kind": "subgaussian", "scale": 0.01}
    problem = {"groups": groups, "dims": {"profit": "max", "cost": "min"}, "noise": noise}
    with story.served.client() as client:
        body = {"name": "three hundred", "problem": problem, "algorithm": "te", "delta": 0.1}
        body["goal"] = {"kind": "pareto", "epsilon": 0.001}
        assert client.post("/studies", json={**body, "horizon": 9}).status_code == 201

    def values(ticket):
        i = int(ticket["group"].split()[1])
        share, depth = (i % 40) / 40, (i // 40) * 0.2
        return [[share - depth, share**2 + depth + 0.001 * (s % 7)] for s in ticket["seeds"]]

    for _ in range(2):
        story.tell("three hundred", values, n=300, repeats=5)
    return "three hundred"


def test_boxes_of_contenders_and_on_hover_with_arrows(story, three_hundred, open_page):
    page = open_page()
    story.enter(page, three_hundred)
    story.until(page, f"{POINTS} === 300")
    story.until(page, "document.querySelectorAll('#plane .point.out').length > 200")
    contenders = page.locator("#plane .point.in, #plane .point.undecided").count()
    assert 40 <= contenders < 90 and page.locator("#plane .box").count() == contenders
    titles = page.locator("#plane .title").all_text_contents()
    assert titles == ["profit  better →", "← better  cost"]
    x, y = centre(page, "document.querySelectorAll('#plane .point.out')[0]")
    page.mouse.move(x, y)
    page.locator("#plane .tip:visible").wait_for()
    assert page.locator("#plane .box.near").count() == 2  # its own, and that of who beats it
    assert page.locator("#plane .beats").count() >= 1
    assert "is better in every dim" in page.locator("#plane .tip").inner_text()
    story.shot(page, "three-hundred", full=False)
    page.mouse.move(5, 5)
    page.locator("#plane .tip").wait_for(state="hidden")
    assert page.locator("#plane .box").count() == contenders
    page.mouse.click(x, y)
    page.locator("#why").wait_for()
    assert "why=bundle" in page.url


def box_of_plane(page):
    """Return where the plane is; it has no place for a moment when an update draws it anew."""
    while (box := page.locator("#plane svg").first.bounding_box()) is None:
        page.wait_for_timeout(50)
    return box


def test_a_zoom_survives_updates_marks_what_is_cut_and_can_be_kept(story, open_page):
    story.create(name="zoomed", horizon=60)
    story.tell_some("zoomed")
    page = open_page()
    story.enter(page, "zoomed")
    story.until(page, f"{POINTS} === 3")
    ticks = "[...document.querySelectorAll('#plane svg > text')].map((t) => t.textContent).join()"
    whole = page.evaluate(ticks)
    cut = page.locator("#plane svg > .cut").count()
    at = box_of_plane(page)
    page.mouse.move(at["x"] + 0.15 * at["width"], at["y"] + 0.05 * at["height"])
    page.mouse.down()
    page.mouse.move(at["x"] + 0.6 * at["width"], at["y"] + 0.5 * at["height"], steps=5)
    page.mouse.up()
    story.until(page, f"{ticks} !== {whole!r}")
    zoomed = page.evaluate(ticks)
    assert page.locator("#plane svg > .cut").count() > cut
    marks = "[...document.querySelectorAll('#plane .point')].map((p) => p.getAttribute('transform')).join()"
    before = page.evaluate(marks)
    story.tell_some("zoomed")
    story.until(page, f"{marks} !== {before!r}")
    assert page.evaluate(ticks) == zoomed
    with page.expect_download() as download:
        page.get_by_role("button", name="Keep the chart as SVG").click()
    assert download.value.suggested_filename == "bestgroup-plane.svg"
    text = download.value.path().read_text()
    assert text.startswith("<svg") and "beta" in text and 'class="' not in text
    page.get_by_role("button", name="Whole plane").click()
    story.until(page, f"{ticks} !== {zoomed!r}")
    assert page.get_by_role("button", name="Whole plane").count() == 0


def test_the_chart_follows_its_width_and_a_finger_scrolls(story, measured, open_page):
    page = open_page()
    story.enter(page, measured)
    story.until(page, f"{POINTS} === 3")
    wide = "document.querySelector('#plane svg').viewBox.baseVal.width"
    before = page.evaluate(wide)
    page.set_viewport_size({"width": 700, "height": 900})
    story.until(page, f"{wide} !== {before}")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 700
    phone = open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    story.enter(phone, measured)
    story.until(phone, f"{POINTS} === 3")
    assert phone.evaluate("getComputedStyle(document.querySelector('#plane svg')).touchAction") in (
        "auto",
        "pan-y",
    )


def test_weighted_worth_stands_beside_the_plane(story, weighed, open_page):
    page = open_page()
    story.enter(page, weighed)
    page.locator("#worth .range-line").first.wait_for(state="attached")
    assert page.locator("#worth .range-line").count() == 5
    title = page.locator("#worth .title").text_content()
    assert title == "2 × profit + 1 × speed  better →"
    names = page.locator("#worth .label").all_text_contents()
    assert names[0] == "Eve" and names[-1] == "Ada"
    story.shot(page, "weighed")
    page.get_by_role("button", name="Two dims").click()
    story.until(page, f"{POINTS} === 5")
    assert "figure=plane" in page.url and not page.locator("#worth").is_visible()
    page.go_back()
    page.locator("#worth .range-line").first.wait_for(state="attached")


def test_a_thousand_groups_are_drawn(story, thousand, open_page):
    page = open_page()
    story.enter(page, thousand)
    story.until(page, f"{POINTS} === 999")
    assert page.locator("#plane.many, #plane .many").count() == 1
    # A thousand frames would hide what is in them; a group's own is there on hover.
    assert page.locator("#plane .box").count() == 0
    assert "box of a group that is in; others on hover" in page.locator("#plane-key").inner_text()
    page.mouse.move(*centre(page, "document.querySelectorAll('#plane .point')[5]"))
    page.locator("#plane .tip:visible").wait_for()
    assert page.locator("#plane .box.near").count() >= 1


def test_an_update_during_a_drag_waits_until_it_ends(story, open_page):
    story.create(name="dragged", horizon=60)
    story.tell_some("dragged")
    page = open_page()
    story.enter(page, "dragged")
    story.until(page, f"{POINTS} === 3")
    ticks = "[...document.querySelectorAll('#plane svg > text')].map((t) => t.textContent).join()"
    marks = "[...document.querySelectorAll('#plane .point')].map((p) => p.getAttribute('transform')).join()"
    whole, before = page.evaluate(ticks), page.evaluate(marks)
    at = box_of_plane(page)
    page.mouse.move(at["x"] + 0.15 * at["width"], at["y"] + 0.05 * at["height"])
    page.mouse.down()
    page.mouse.move(at["x"] + 0.3 * at["width"], at["y"] + 0.3 * at["height"], steps=3)
    story.tell_some("dragged")
    story.until(page, "document.getElementById('plane').late === true")
    assert page.evaluate(marks) == before
    page.mouse.move(at["x"] + 0.6 * at["width"], at["y"] + 0.5 * at["height"], steps=3)
    page.mouse.up()
    story.until(page, f"{ticks} !== {whole!r} && {marks} !== {before!r}")
    assert page.get_by_role("button", name="Whole plane").count() == 1
