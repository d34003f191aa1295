"""The page of a report: what it says, and how it behaves in a real browser."""

from __future__ import annotations

import base64
import os
import re
import shutil
from html.parser import HTMLParser

import pytest
from basin_cases import TWO
from robust import sphere

from conditions import AttentionDataset
from verifier import io
from verifier.certify import certify
from verifier.cli import main
from verifier.directions import explore
from verifier.formal import covered
from verifier.kernel import check_text
from verifier.report.html import render
from verifier.report.trace import trace

HOSTILE = '"><script>alert(1)</script>&amp;'


@pytest.fixture(scope="module")
def plane():
    return certify(io.load_dataset("examples/data/plane_3_tokens.npz"), source="plane",
                   seconds=2)


class Tags(HTMLParser):
    """Counts tags, keeps attributes, and refuses what is not nested properly."""

    VOID = ("meta", "link")

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def test_page_is_well_formed_and_asks_for_nothing(plane):
    page = render(plane)
    tags = Tags(page)
    for name, attributes in tags.seen:
        for key in ("src", "href", "xlink:href", "srcset"):
            value = attributes.get(key)
            assert value is None or value.startswith(("#", "data:")), (name, value)
    assert "url(http" not in page and "@import" not in page
    assert len([1 for name, a in tags.seen if name == "details"]) == len(plane.verdicts)
    ids = [a["id"] for _, a in tags.seen if "id" in a and a["id"].islower()]
    for _, attributes in tags.seen:
        if (attributes.get("href") or "").startswith("#") and len(attributes["href"]) > 1:
            assert attributes["href"][1:] in ids or "clip" in attributes["href"]


def test_every_verdict_and_its_evidence_are_there(plane):
    page = render(plane)
    for verdict in plane.verdicts:
        assert f"<code>{verdict.condition}</code>" in page
    observed = page[page.index("<code>predicted_direction</code>"):]
    assert observed.index('badge observed">observed') < observed.index("</summary>")
    assert "Not decided: the recorded run converges" in observed[:1000]


def test_formal_theorems_are_marked(plane):
    marked = render(plane).count("has a formal theorem")
    assert marked == sum(map(covered, plane.verdicts)) > 5


def test_the_certificate_can_be_taken_from_the_page(plane):
    data = re.search(r'href="data:application/json;base64,([^"]+)"', render(plane))
    text = base64.b64decode(data.group(1)).decode()
    assert text == plane.certificate_text() and check_text(text).accepted


def test_names_are_escaped(plane):
    page = render(certify(TWO, source=HOSTILE, iterations=0))
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page
    Tags(page)


@pytest.mark.parametrize("report", [
    lambda: certify(TWO, iterations=0),
    lambda: certify(AttentionDataset.build([[[1], [0]], [[0], [1]]], [1, 1], [[1], [1]], [1]),
                    iterations=50, seconds=0),
    lambda: explore(TWO).report,
    lambda: certify(AttentionDataset.build([[[1, 0, 2], [0, 1, 0]]], [1], [[0, 0, 0]],
                                           [0, 0, 1]), iterations=20, seconds=0)],
    ids=["no run", "infeasible", "directions", "zero query"])
def test_other_reports_have_a_page(report):
    made = report()
    Tags(render(made))
    assert render(made) == render(made)


def test_trace_ends_where_the_run_ended(plane):
    found = trace(plane)
    assert found.steps[0] == 0 and found.steps[-1] == plane.run.iterations
    assert (found.W[-1] == plane.run.final).all()
    assert all(abs(w.sum(axis=1) - 1).max() < 1e-12 for w in found.attention)
    assert [int(w[-1].argmax()) for w in found.attention] == list(plane.run.selected)


def test_a_report_shows_itself_in_a_notebook(plane):
    frame = plane._repr_html_()
    assert frame.startswith("<iframe") and "srcdoc=" in frame and "<script>" not in frame


def test_command_writes_the_page(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.html"
    monkeypatch.setattr("sys.argv", ["attsvm", "certify", "examples/data/plane_3_tokens.npz",
                                     "--iterations", "100", "--seconds", "0", "--html",
                                     str(page)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    Tags(page.read_text(encoding="utf-8"))
    assert str(page) in capsys.readouterr().out.replace("\n", "")


# --- In a browser ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        if os.environ.get("CI"):
            pytest.fail("chromium and chromium-driver must be installed")
        pytest.skip("needs chromium and chromedriver")
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService
    options = ChromeOptions()
    options.binary_location = chromium
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run",
                 "disable-background-networking", "disable-component-update", "disable-sync",
                 "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = Chrome(options=options, service=ChromeService(driver))
    yield started
    started.quit()


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """The page of a (6, 8, 10) dataset, under 3 MB, opened on a phone's width."""
    page = render(certify(sphere(6, 8, 10, 0), source="trial", seconds=2, robust=True))
    assert len(page.encode()) < 3_000_000
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(page, encoding="utf-8")
    browser.set_window_size(412, 900)
    browser.get(file.as_uri())
    return browser


def count(browser, script):
    return browser.execute_script(f"return {script}")


def test_console_is_silent(opened):
    assert opened.get_log("browser") == []


def test_verdicts_unfold_and_fold(opened):
    from selenium.webdriver.common.by import By
    details = opened.find_elements(By.CSS_SELECTOR, "details.verdict")
    opened_count = "document.querySelectorAll('details[open]').length"
    assert len(details) > 15 and count(opened, opened_count) == 0
    opened.find_element(By.ID, "unfold").click()
    assert count(opened, opened_count) == len(details)
    opened.find_element(By.ID, "fold").click()
    assert count(opened, opened_count) == 0
    details[0].find_element(By.TAG_NAME, "summary").click()
    assert details[0].find_element(By.TAG_NAME, "pre").is_displayed()


def test_the_keyboard_is_enough(opened):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    opened.refresh()
    opened.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert opened.switch_to.active_element.text == "Skip to the verdicts"
    for _ in range(40):
        if opened.switch_to.active_element.tag_name == "summary":
            break
        opened.switch_to.active_element.send_keys(Keys.TAB)
    summary = opened.switch_to.active_element
    assert summary.tag_name == "summary"
    before = summary.find_element(By.XPATH, "..").get_attribute("open")
    summary.send_keys(Keys.ENTER)
    assert summary.find_element(By.XPATH, "..").get_attribute("open") != before


def test_nothing_is_wider_than_a_phone(opened):
    assert count(opened, "document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes_are_readable(opened, scheme):
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def luminance(name):
        rgb = count(opened, f"getComputedStyle(document.body).{name}.match(/[0-9]+/g)")
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                  for c in (int(x) / 255 for x in rgb[:3])]
        return sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    page, text = luminance("backgroundColor"), luminance("color")
    assert (page > text) == (scheme == "light")
    assert (max(page, text) + 0.05) / (min(page, text) + 0.05) > 7


def test_screenshot_is_not_blank(opened, tmp_path):
    import matplotlib.image
    shot = tmp_path / "shot.png"
    opened.execute_script("location.hash = 'attention'")
    assert opened.save_screenshot(str(shot))
    pixels = matplotlib.image.imread(shot)[..., :3].reshape(-1, 3)
    assert len({tuple(p) for p in (pixels[::7] * 255).astype(int).tolist()}) > 20
