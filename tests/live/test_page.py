"""The page: what it shows, what it refuses, and in a real browser on the screen of a phone."""

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
from playwright.sync_api import Browser

from budgetseg.errors import OutputError
from budgetseg.live.page import Page
from budgetseg.live.status import Status
from budgetseg.timing.clock import CostClock
from tests.live.worlds import camera, drive, faster, live, space
from tests.report.test_browser import browser
from tests.spaces.frames.worlds import CLASSES, SECONDS

__all__ = ["browser"]


@pytest.fixture
def page() -> Iterator[Page]:
    """A page of two streams that have run for some seconds."""
    clock = CostClock()
    own = space(faster(SECONDS, large=0.2))
    loop = live([camera(drive(), 10.0, 60), camera(drive(seed=8), 10.0, 60)], 0.1, own, clock=clock)
    status = Status(loop, clock)
    shown = Page(loop, status, CLASSES)
    for frame in loop:
        shown.show(frame)
    status.look()
    yield shown
    shown.close()


def get(page: Page, path: str) -> tuple[str, bytes]:
    with urllib.request.urlopen(page.url.rstrip("/") + path, timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read()


def test_it_gives_the_page_frames_state_and_metrics(page: Page) -> None:
    assert get(page, "/")[0].startswith("text/html")
    kind, jpeg = get(page, "/frame/1.jpg")
    assert kind == "image/jpeg"
    picture = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    assert picture.shape == (64, 96, 3)
    state = json.loads(get(page, "/state.json")[1])
    assert [source["name"] for source in state["sources"]] == ["cam0", "cam1"]
    assert {own["network"] for own in state["questions"]} == {"small", "large"}
    assert "budgetseg_frames_arrived_total" in get(page, "/metrics")[1].decode()


@pytest.mark.parametrize(
    "path", ["/frame/2.jpg", "/../etc/passwd", "//etc/passwd", "/page.py", "/frame/../../x", "/%2e%2e/"]
)
def test_there_is_nothing_else(page: Page, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(page, path)


def test_it_only_answers_to_get(page: Page) -> None:
    with pytest.raises(urllib.error.HTTPError, match="501"):
        urllib.request.urlopen(page.url, data=b"x", timeout=10)


def test_it_is_for_this_machine_unless_told_otherwise(page: Page) -> None:
    assert page.url.startswith("http://127.0.0.1:")


def test_too_many_clients_are_sent_away_and_the_others_are_answered(page: Page) -> None:
    port = int(page.url.rstrip("/").rpartition(":")[2])
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(16)]
    with socket.create_connection(("127.0.0.1", port)) as late:
        late.settimeout(10)
        assert late.recv(100).startswith(b"HTTP/1.0 503")
    for own in silent:
        own.close()


def test_a_port_that_is_taken_is_a_line(page: Page) -> None:
    port = int(page.url.rstrip("/").rpartition(":")[2])
    clock = CostClock()
    loop = live([camera(drive(), 10.0, 1)], clock=clock)
    with pytest.raises(OutputError, match=f"port {port} of '127.0.0.1' cannot be used"):
        Page(loop, Status(loop, clock), CLASSES, port=port)


def test_a_phone_shows_frames_ages_and_questions_and_asks_nobody_else(page: Page, browser: Browser) -> None:
    tab = browser.new_page(viewport={"width": 390, "height": 844})
    complaints: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(page.url)
    tab.wait_for_selector("#source-1 dd")
    tab.wait_for_function("[...document.images].every(one => one.naturalWidth === 96)")
    tab.wait_for_selector("#questions rect")
    text = tab.inner_text("body")
    for word in ("100 ms", "cam0", "cam1", "age p99", "dropped", "0 of 60", *CLASSES.names):
        assert word.lower() in text.lower(), word
    assert not {"null", "undefined", "NaN", "Infinity"} & set(text.split())
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert complaints == []
    assert {url for url in requests if not url.startswith(("data:", "blob:"))} <= {
        page.url + path for path in ("", "state.json", "frame/0.jpg", "frame/1.jpg")
    }
    tab.close()
