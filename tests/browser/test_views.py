"""Every view at three sizes, light and dark: it fits, nothing goes wrong, and axe finds nothing serious."""

from pathlib import Path

import pytest

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
SIZES = {"desk": (1280, 800), "tablet": (820, 1180), "phone": (390, 844)}
READY = {
    "overview": "#counts li",
    "groups": "#groups tbody tr",
    "course": "#course-statuses .area",
    "arms": "#arms tbody tr",
    "workers": "#workers tbody tr",
    "data": "#pinned dd",
}


# The rules that look at colours; all others look at what is the same in light and in dark.
COLOURS = ["color-contrast", "link-in-text-block"]


def serious(page, scheme="light"):
    """Return what axe finds that keeps people out; the script is run past the page's policy."""
    if not AXE.exists():
        pytest.skip("axe-core is not here: sh tests/browser/install.sh")
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    options = {"resultTypes": ["violations"]}
    if scheme == "dark":
        options["runOnly"] = COLOURS
    found = page.evaluate("(options) => axe.run(document, options)", options)
    return [
        (entry["id"], entry["help"], [node["html"][:160] for node in entry["nodes"][:3]])
        for entry in found["violations"]
        if entry["impact"] in ("serious", "critical")
    ]


def fits(page, width):
    return page.evaluate("document.scrollingElement.scrollWidth") <= width


def in_both_schemes(story, page, name, full, found):
    """Keep a picture of a view in light and in dark, and what axe finds in each."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(100)
        found[name, scheme] = serious(page, scheme)
        story.shot(page, f"{name}-{scheme}", full=full)


# Between the two others; under verify.
@pytest.mark.parametrize(
    "size", ["desk", "phone", pytest.param("tablet", marks=pytest.mark.verify)]
)
def test_the_views_of_a_study(story, measured, weighed, open_page, size):
    width, height = SIZES[size]
    phone = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
    page = open_page(viewport={"width": width, "height": height}, **phone)
    story.enter(page)
    found = {}
    # What a study asks shows in three of its views; the others are the same for both.
    for study, views in ((measured, READY), (weighed, ("overview", "groups", "course"))):
        for view in views:
            story.go(page, study, view=view)
            page.locator(READY[view]).first.wait_for()
            page.wait_for_timeout(200)
            assert fits(page, width), view
            name = f"{view if study == measured else f'best-{view}'}-{size}"
            in_both_schemes(story, page, name, view != "overview", found)
    story.go(page, measured, why="alpha")
    page.locator("#why").wait_for()
    in_both_schemes(story, page, f"why-{size}", False, found)
    assert not {key: list_ for key, list_ in found.items() if list_}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_around_a_study(story, served, measured, open_page, scheme):
    page = open_page(refused=True, color_scheme=scheme)
    found = {}
    page.goto(served.base)
    found["sign-in"] = serious(page, scheme)
    story.enter(page)
    page.get_by_role("link", name=measured).wait_for()
    found["list"] = serious(page, scheme)
    page.get_by_role("button", name="New study").click()
    found["make"] = serious(page, scheme)
    page.goto(f"{served.base}nowhere")
    found["missing"] = serious(page, scheme)
    page.goto(f"{served.base}?study=nowhere")
    page.get_by_role("heading", name="There is no such study").wait_for()
    found["gone"] = serious(page, scheme)
    story.shot(page, f"gone-{scheme}", full=False)
    held = []
    page.route("**/api/v1/view?*", lambda route: held.append(route))
    page.goto(f"{served.base}?study={measured}")
    page.get_by_text("The study is being read").wait_for()
    found["being read"] = serious(page, scheme)
    story.shot(page, f"being-read-{scheme}", full=False)
    assert held
    page.unroute("**/api/v1/view?*")  # which lets go of those held
    page.locator("#counts li").first.wait_for()
    assert not page.get_by_text("The study is being read").is_visible()
    story.create(name=f"untouched {scheme}")
    story.go(page, f"untouched {scheme}")
    page.get_by_text("Nothing is measured yet").first.wait_for()
    found["untouched"] = serious(page, scheme)
    assert not {key: list_ for key, list_ in found.items() if list_}


def test_the_first_screen_holds_the_verdict_the_plane_and_the_list(story, measured, open_page):
    page = open_page(viewport={"width": 1280, "height": 800})
    story.enter(page, measured)
    page.locator("#plane svg").first.wait_for()
    for part in ("#headline", "#bar svg", "#counts", "#progress-share", "#progress-text"):
        box = page.locator(part).bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 400, part
    plane, groups = page.locator("#plane").bounding_box(), page.locator("#short-groups")
    assert plane["y"] + plane["height"] <= 800
    assert groups.bounding_box()["x"] > plane["x"] + plane["width"]
    page.mouse.wheel(0, 600)
    story.until(page, "scrollY > 100")
    assert page.locator(".top").bounding_box()["y"] == 0  # the head stays


def test_the_scheme_follows_the_computer_until_somebody_chooses(story, measured, open_page):
    page = open_page(color_scheme="light")
    story.enter(page, measured)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(ground)
    assert light != dark
    page.get_by_role("button", name="Change between light and dark").click()
    assert page.evaluate(ground) == light
    page.reload()
    assert page.evaluate(ground) == light
    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="Change between light and dark").click()
    assert page.evaluate(ground) == dark


def test_the_course_against_pulls_and_time(story, ended, open_page):
    page = open_page()
    story.enter(page, ended, view="course")
    page.locator("#course-statuses .area.in").wait_for()
    rows = page.locator("#decisions tbody tr")
    assert rows.count() == 4 and "the whole answer" in rows.first.inner_text()
    assert page.locator("#course-statuses .event").count() == 3
    assert page.locator("#course-widths .line").count() == 2
    page.get_by_role("button", name="Against time").click()
    story.until(page, "document.querySelector('#course-statuses .title').textContent === 'time'")
    assert "against=time" in page.url
    page.locator("#course-statuses svg").hover()
    page.locator("#course-statuses .tip:visible").wait_for()
    assert "observation" in page.locator("#course-statuses .tip").inner_text()
    page.go_back()
    story.until(page, "document.querySelector('#course-statuses .title').textContent !== 'time'")
