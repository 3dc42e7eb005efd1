"""The page in a real browser: it shows what it should, by mouse and by keyboard, and asks nobody for anything."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from budgetseg.report import write_report
from budgetseg.types import Classes
from budgetseg.video import VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from budgetseg.video.player import player_html
from tests.report.worlds import BUDGETS, FRAMES_BUDGETS

Motion = Literal["no-preference", "reduce"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        if found is None and not own.exists():
            if os.environ.get("BUDGETSEG_REQUIRE_DATA"):
                pytest.fail("there is no Chromium; 'make browser' installs it")
            pytest.skip("there is no Chromium; 'make browser' installs it")
        one = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield one
        one.close()


@pytest.fixture
def shown(browser: Browser, page: Path) -> Iterator[Page]:
    """The page of everything."""
    yield from opened(browser, page)


@pytest.fixture
def by_frames(browser: Browser, frames_page: Path) -> Iterator[Page]:
    """The page of a video that was labelled by whole frames."""
    yield from opened(browser, frames_page)


def opened(browser: Browser, page: Path, moment: str = "", motion: Motion = "reduce") -> Iterator[Page]:
    """A page, opened from disk; at the end there must have been no complaint and no request."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion=motion, accept_downloads=True)
    complaints: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(page.as_uri() + moment)
    tab.wait_for_selector("#legend > *")
    yield tab
    assert complaints == []
    assert {url.split("#")[0] for url in requests if not url.startswith("data:")} == {page.as_uri()}
    tab.close()


moment_of = contextmanager(opened)


def picture(tab: Page) -> str:
    found: str = tab.evaluate("document.getElementById('canvas').toDataURL()")
    return found


def click_at(canvas: Locator, across: float, down: float) -> None:
    box = canvas.bounding_box()
    assert box is not None
    canvas.click(position={"x": box["width"] * across, "y": box["height"] * down})


def test_the_slider_changes_the_picture(shown: Page) -> None:
    seen = []
    for k, name in enumerate(BUDGETS):
        shown.fill("#budget", str(k))
        assert shown.get_attribute("#budget", "aria-valuetext").startswith(f"{name},")  # type: ignore[union-attr]
        assert shown.locator("#budget-ticks [aria-pressed=true]").inner_text() == name
        seen.append(picture(shown))
    assert len(set(seen)) == len(BUDGETS)


def test_a_click_shows_the_region(shown: Page) -> None:
    assert "Choose a region" in shown.inner_text("#region")
    click_at(shown.locator("#canvas"), 0.5, 0.9)
    text = shown.inner_text("#region")
    assert f"Computed within {BUDGETS[-1]}" in text
    for word in (
        "Cost",
        "Confidence",
        "Label",
        "colour",
        "hog",
        "ms",
        "Class probabilities, before the CRF",
        "own",
        "shared",
    ):
        assert word in text
    assert shown.inner_text("#region h3") in shown.inner_text("#legend")


def test_a_region_that_was_not_reached_is_shown_to_be_interpolated(shown: Page) -> None:
    shown.fill("#budget", "0")
    shown.check("input[value=computed]")
    assert "none: interpolated" in shown.inner_text("#legend")
    for down in (0.1, 0.3, 0.5, 0.7, 0.9):
        click_at(shown.locator("#canvas"), 0.4, down)
        if "interpolated from its neighbours" in shown.inner_text("#region .state"):
            assert "nothing" in shown.inner_text("#region dl")
            return
    pytest.fail("every region was computed at the smallest budget")


def test_class_probabilities_are_shown_at_every_budget(shown: Page) -> None:
    for k in range(len(BUDGETS)):
        shown.fill("#budget", str(k))
        for down in (0.1, 0.5, 0.9):
            click_at(shown.locator("#canvas"), 0.4, down)
            assert shown.locator("#region h4").inner_text() == "Class probabilities, before the CRF"
            shares = [float(one.split()[0]) for one in shown.locator(".probability span:last-child").all_inner_texts()]
            assert 96 <= sum(shares) <= 104


def test_patterns_distinguish_classes_without_colours(shown: Page) -> None:
    before = picture(shown)
    shown.check("#hatch")
    assert picture(shown) != before
    chips = shown.evaluate("[...document.querySelectorAll('#legend canvas')].map(one => one.toDataURL())")
    assert len(set(chips)) == len(chips) == shown.locator("#legend button").count()


def test_of_whole_frames_the_slider_changes_the_picture_and_a_click_shows_the_place(by_frames: Page) -> None:
    seen = []
    for k, name in enumerate(FRAMES_BUDGETS):
        by_frames.fill("#budget", str(k))
        by_frames.check("input[value=confidence]")
        sure = picture(by_frames)
        by_frames.check("input[value=labels]")
        click_at(by_frames.locator("#canvas"), 0.5, 0.6)
        seen += [sure, picture(by_frames)]
        text = by_frames.inner_text("#region")
        assert by_frames.inner_text("#region h3") in by_frames.locator("#region tr.now").inner_text()
        assert by_frames.locator("#region tr.now").inner_text().startswith(name)
        for word in ("Place", "Area", "Cost", "confidence", "look", *FRAMES_BUDGETS):
            assert word in text
        assert ("No network was asked within 0.0001s" if k == 0 else "From the prediction of dcnn for frame") in text
    assert len(set(seen)) == len(seen)
    assert not {"null", "undefined", "NaN", "Infinity", "[object"} & set(by_frames.inner_text("body").split())
    by_frames.fill("#frame", "9")
    assert "frame 9" in by_frames.inner_text("#region")
    assert by_frames.locator("#moments rect").count() > 24
    by_frames.keyboard.press("Escape")
    by_frames.set_viewport_size({"width": 360, "height": 800})
    by_frames.wait_for_timeout(100)
    assert by_frames.evaluate("document.documentElement.scrollWidth") <= 360


def test_views_opacity_borders_and_frames_change_the_picture(shown: Page) -> None:
    seen = [picture(shown)]
    for view in ("computed", "cost", "confidence", "labels"):
        shown.check(f"input[value={view}]")
        seen.append(picture(shown))
    assert seen[0] == seen[-1]
    shown.fill("#opacity", "0")
    seen.append(picture(shown))
    shown.fill("#opacity", "60")
    shown.check("#outlines")
    seen.append(picture(shown))
    shown.fill("#frame", "6")
    seen.append(picture(shown))
    assert len(set(seen)) == len(seen) - 1


def test_a_class_in_the_key_can_be_looked_at_alone(shown: Page) -> None:
    before = picture(shown)
    first = shown.locator("#legend button").first
    first.click()
    assert picture(shown) != before
    assert shown.locator("#legend button[aria-pressed=true]").count() == 1
    shown.locator("#legend button").first.click()
    assert picture(shown) == before


def test_everything_can_be_done_by_keyboard(shown: Page) -> None:
    for _ in range(20):
        shown.keyboard.press("Tab")
        if shown.evaluate("document.activeElement.id") == "canvas":
            break
    assert shown.evaluate("document.activeElement.id") == "canvas"
    before = picture(shown)
    shown.keyboard.press("ArrowDown")
    assert picture(shown) != before  # the cursor moved
    shown.keyboard.press("Enter")
    assert "Cost" in shown.inner_text("#region")
    shown.keyboard.press("[")
    assert shown.input_value("#budget") == "1"
    shown.keyboard.press(".")
    assert shown.input_value("#frame") == "1"
    shown.keyboard.press("Escape")
    assert "Choose a region" in shown.inner_text("#region")
    shown.keyboard.press("Space")
    assert shown.get_attribute("#play", "aria-label") == "Pause"
    shown.keyboard.press("Space")
    shown.focus("#budget")
    shown.keyboard.press("ArrowLeft")
    assert shown.input_value("#budget") == "0"


def test_playing_goes_on_to_other_frames(shown: Page) -> None:
    shown.click("#play")
    expect(shown.locator("#frame")).not_to_have_value("0")
    shown.click("#play")


def test_the_table_is_sorted_by_its_headings(shown: Page) -> None:
    def column() -> list[float]:
        cells = shown.locator("#figures tbody tr td:nth-child(3)").all_inner_texts()
        return [float(cell.split()[0]) for cell in cells]

    assert shown.locator("#figures tbody th").all_inner_texts()[0] == "crf"
    shown.click("#figures [data-key='class road']")
    assert column() == sorted(column(), reverse=True)
    assert shown.get_attribute("#figures th:nth-child(3)", "aria-sort") == "descending"
    shown.keyboard.press("Enter")
    assert column() == sorted(column())
    assert shown.get_attribute("#figures th:nth-child(3)", "aria-sort") == "ascending"


def test_charts_show_methods_intervals_choices_and_deadlines(shown: Page) -> None:
    assert shown.locator("#curve polyline").count() == 2  # those with budgets; the one without is a level
    assert shown.locator("#curve [data-tip*='± ']").count() == 4
    shown.click("#methods button:has-text('baseline1')")
    assert shown.locator("#curve polyline").count() == 1
    for chart, n in (("bars", 6), ("choices", 4), ("choices-time", 20), ("deadline", 12)):
        assert shown.locator(f"#{chart} [data-tip]").count() == n, chart
    shown.hover("#curve [data-tip^='static']")
    assert "static" in shown.inner_text("#tip")


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_no_width_of_the_window_makes_the_page_scroll_sideways(shown: Page, width: int) -> None:
    shown.set_viewport_size({"width": width, "height": 800})
    click_at(shown.locator("#canvas"), 0.5, 0.5)
    shown.wait_for_timeout(100)
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_no_text_is_a_slip(shown: Page) -> None:
    shown.fill("#budget", "0")
    for down in (0.1, 0.3, 0.5, 0.7, 0.9):
        click_at(shown.locator("#canvas"), 0.4, down)
        assert not {"null", "undefined", "NaN", "[object"} & set(shown.inner_text("body").split())


def test_every_control_has_a_name(shown: Page) -> None:
    nameless = shown.evaluate(
        """[...document.querySelectorAll("button, input, select, canvas, [tabindex='0']")].filter(one =>
        !(one.getAttribute("aria-label") || one.innerText || (one.labels && one.labels.length))).map(one => one.id)"""
    )
    assert nameless == []


def test_it_plays_when_it_is_opened_unless_motion_is_unwanted(browser: Browser, frames_page: Path) -> None:
    with moment_of(browser, frames_page, motion="no-preference") as tab:
        assert tab.get_attribute("#play", "aria-label") == "Pause"
        expect(tab.locator("#frame")).not_to_have_value("0")
        tab.fill("#budget", "0")
        assert f"Budget {FRAMES_BUDGETS[0]}" in tab.inner_text("#summary")
        tab.click("#play")
        assert tab.get_attribute("#play", "aria-label") == "Play"
    with moment_of(browser, frames_page) as tab:
        assert tab.get_attribute("#play", "aria-label") == "Play"


def test_the_summary_has_the_figures_of_the_ledger(by_frames: Page, frames_run: Path) -> None:
    for k, name in enumerate(FRAMES_BUDGETS):
        by_frames.fill("#budget", str(k))
        ledger = json.loads((frames_run / name / "ledger.json").read_text())
        text = by_frames.inner_text("#summary")
        assert f"Budget {name}" in text
        assert ("late" in text) == (ledger["overrun_s"] > 0)
        found = {one: share for one, share in ledger["class_shares"].items() if share > 0.001}
        shown = by_frames.locator("#summary .share").all_inner_texts()
        assert [line.split("\n")[0].strip() for line in shown] == sorted(found, key=lambda one: -found[one])
        assert shown[0].split()[-2] == f"{100 * max(found.values()):.1f}"


def test_two_budgets_stand_side_by_side(by_frames: Page) -> None:
    assert not by_frames.is_visible("#other-canvas")
    by_frames.select_option("#other", label=FRAMES_BUDGETS[0])
    expect(by_frames.locator("#other-canvas")).to_be_visible()
    shown = "document.getElementById('other-canvas').toDataURL()"
    assert by_frames.evaluate(shown) != picture(by_frames)
    assert float(by_frames.inner_text("#difference").split()[0]) > 0
    by_frames.select_option("#other", label=FRAMES_BUDGETS[-1])
    expect(by_frames.locator("#difference")).to_have_text("0.0 % of the pixels of this frame have another class.")
    assert by_frames.evaluate(shown) == picture(by_frames)
    by_frames.set_viewport_size({"width": 360, "height": 800})
    by_frames.wait_for_timeout(100)
    assert by_frames.evaluate("document.documentElement.scrollWidth") <= 360
    by_frames.select_option("#other", label="nothing")
    expect(by_frames.locator("#other-canvas")).to_be_hidden()


def test_a_link_leads_to_its_moment(browser: Browser, frames_page: Path) -> None:
    with moment_of(browser, frames_page) as tab:
        tab.fill("#frame", "9")
        tab.fill("#budget", "1")
        place: str = tab.evaluate("location.hash")
        shown = picture(tab)
    assert place.startswith("#t=")
    with moment_of(browser, frames_page, place, "no-preference") as tab:
        assert tab.input_value("#frame") == "9"
        assert tab.input_value("#budget") == "1"
        assert tab.get_attribute("#play", "aria-label") == "Play"
        assert picture(tab) == shown
    for wrong in ("#t=1e9", "#t=-4&video=77&budget=none", "#t=soon", "#nowhere"):
        with moment_of(browser, frames_page, wrong) as tab:
            assert tab.input_value("#budget") == str(len(FRAMES_BUDGETS) - 1)


def test_the_picture_can_be_saved(by_frames: Page, tmp_path: Path) -> None:
    by_frames.fill("#frame", "3")
    with by_frames.expect_download() as download:
        by_frames.click("#save")
    assert download.value.suggested_filename == "street-3-inf.png"
    download.value.save_as(tmp_path / "saved.png")
    saved = cv2.imread(str(tmp_path / "saved.png"))
    assert saved is not None
    assert list(saved.shape[1::-1]) == by_frames.evaluate(
        "(({width, height}) => [width, height])(document.getElementById('canvas'))"
    )


def test_the_least_confident_frame_is_one_click_away(by_frames: Page) -> None:
    first = by_frames.locator("#least button").first
    number = first.inner_text().split()[1]
    first.click()
    assert by_frames.input_value("#frame") == number
    assert by_frames.locator("#least button[aria-current=true]").count() == 1
    sure = [float(text.split()[2]) for text in by_frames.locator("#least button").all_inner_texts()]
    assert sure == sorted(sure)


@pytest.mark.parametrize("which", ["shown", "by_frames"])
def test_panel_and_tooltip_agree(which: str, request: pytest.FixtureRequest) -> None:
    tab: Page = request.getfixturevalue(which)
    n_budgets = len(BUDGETS)
    for k in range(25):
        tab.fill("#budget", str(k % n_budgets))
        tab.fill("#frame", str(k % 7))
        place = (k * 0.618) % 1 * 0.96 + 0.02, (k * 0.414) % 1 * 0.96 + 0.02
        click_at(tab.locator("#canvas"), *place)
        label, *others = tab.inner_text("#tip").splitlines()
        assert tab.inner_text("#region h3") == label
        if others and others[-1].startswith("confidence"):
            assert others[-1].removeprefix("confidence ") in tab.inner_text("#region")


def test_several_videos_have_a_gallery(browser: Browser, frames_run: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(frames_run, tmp_path / name, ignore=shutil.ignore_patterns("*.html"))
    write_report(tmp_path, tmp_path / "page.html")
    with moment_of(browser, tmp_path / "page.html") as tab:
        cards = tab.locator("#cards button")
        assert cards.count() == 2
        assert cards.nth(0).get_attribute("aria-pressed") == "true"
        cards.nth(1).click()
        expect(cards.nth(1)).to_have_attribute("aria-pressed", "true")
        assert tab.input_value("#video") == "1"
        tab.select_option("#other", label=f"{FRAMES_BUDGETS[-1]}, one")
        expect(tab.locator("#difference")).to_contain_text("0.0 %")


def test_one_video_has_no_gallery(by_frames: Page) -> None:
    assert not by_frames.is_visible("#gallery")


def test_the_player_of_a_notebook_plays_and_has_a_slider_for_the_budget(browser: Browser, tmp_path: Path) -> None:
    labels = [np.full((5, 24, 40), k, np.uint8) for k in range(2)]
    source = VideoSource(ArrayClip(np.zeros((5, 24, 40, 3), np.uint8)), Span(), (40, 24))
    page = tmp_path / "player.html"
    page.write_text(player_html(source, labels, ["1 s", "2 s"], Classes.of(["road", "sky"])))
    tab = browser.new_page()
    complaints: list[str] = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto(page.as_uri())
    player = tab.frame_locator("iframe")
    expect(player.locator("#play")).to_have_text("Pause")
    expect(player.locator("#at")).not_to_have_value("0")
    player.locator("#play").click()
    expect(player.locator("#play")).to_have_text("Play")
    expect(player.locator("#name")).to_have_text("2 s")
    before = player.locator("#labels").get_attribute("src")
    player.locator("#budget").fill("0")
    expect(player.locator("#name")).to_have_text("1 s")
    assert player.locator("#labels").get_attribute("src") != before
    assert player.locator("#key").inner_text().split() == ["road", "sky"]
    assert complaints == []
    tab.close()
