# SPDX-License-Identifier: BSD-2-Clause
"""A reader's actions in the report: by mouse and by touch, in three widths, light and dark."""

import csv
import io
import shutil
import time

import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.by import By
from test_attribution import profile
from test_report_page import report, strategies, transfers, trials  # noqa: F401 (fixtures)

from moderato.sim.lab.explain import flame_graph

WIDTHS, HEIGHT = (1280, 800, 420), 900


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'browser'}",
    ):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    made = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    made.folder = folder
    yield made
    made.quit()


@pytest.fixture
def page(browser, report):  # noqa: F811
    browser.get(report.as_uri())
    return browser


def look(browser, width: int, scheme: str):
    """The window's width in CSS pixels, and the reader's colour scheme."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )


def brightness(colour: str) -> float:
    """0 to 255, of `rgb(r, g, b)` or `rgba(r, g, b, a)`."""
    return sum(map(float, colour[colour.index("(") + 1 : -1].split(",")[:3])) / 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_readable(page, width, scheme):
    """The page is not wider than the window; texts have contrast, also in figures."""
    look(page, width, scheme)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    style = page.execute_script("""
        const of = name => getComputedStyle(document.querySelector(name));
        return [of('body').backgroundColor, of('body').color, of('figure svg').color,
                of('figure svg text').fill, of('figure svg text').fontSize];""")
    paper, *inks = map(brightness, style[:4])
    assert all(abs(ink - paper) > 120 for ink in inks)
    assert (paper > 128) == (scheme == "light")
    # Letters of a figure, in their size on the screen.
    height = page.execute_script("""
        return document.querySelector('#story svg text').getBoundingClientRect().height""")
    assert height >= 8


def marks(page, figure: str, variant: str) -> list:
    return page.find_elements(By.CSS_SELECTOR, f"#{figure} g[data-variant='{variant}'][data-tip]")


def balloon(page) -> str:
    found = page.find_element(By.CLASS_NAME, "balloon")
    return found.text if found.is_displayed() else ""


def show(page, element):
    """Scroll there, and wait for the event."""
    page.execute_async_script(
        """
        arguments[0].scrollIntoView({block: 'center'});
        requestAnimationFrame(() => requestAnimationFrame(arguments[1]));""",
        element,
    )


def place(page, element) -> dict[str, int]:
    """The centre of an element, in the window."""
    return page.execute_script(
        """
        const box = arguments[0].getBoundingClientRect();
        return {x: Math.round(box.x + box.width / 2),
                y: Math.round(box.y + box.height / 2)};""",
        element,
    )


def point(page, element):
    """Move the mouse to its position: given the element, the driver would scroll first. A scroll event,
    which may come after the move, hides the balloon.
    """
    mouse = ActionBuilder(page)
    mouse.pointer_action.move_to_location(**place(page, element))
    mouse.perform()


def test_values_by_mouse(page):
    look(page, 1280, "light")
    mark = marks(page, "figure-4", "napi")[0]
    show(page, mark)  # with the caption below
    point(page, mark)
    assert balloon(page).startswith("ours: napi, 64 bytes: ")
    point(page, page.find_element(By.CSS_SELECTOR, "#figure-4 figcaption"))
    assert balloon(page) == ""


def test_values_by_touch(page):
    look(page, 420, "light")
    page.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    mark = marks(page, "story", "napi")[0]
    show(page, mark)
    for kind, points in (("touchStart", [place(page, mark)]), ("touchEnd", [])):
        page.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert balloon(page).startswith("napi, 64 bytes, load ")


def test_variants_are_switched_off_and_on(page):
    look(page, 1280, "light")
    box = page.find_element(By.CSS_SELECTOR, ".variants input[name=napi]")
    lines = page.find_elements(By.CSS_SELECTOR, "figure g[data-variant=napi]")
    others = page.find_elements(By.CSS_SELECTOR, "figure g[data-variant=original]")
    assert lines and others

    def shown(elements):
        return {each.value_of_css_property("display") != "none" for each in elements}

    box.click()
    assert (shown(lines), shown(others)) == ({False}, {True})
    box.click()
    assert shown(lines) == {True}


def downloaded(page, name: str) -> bytes:
    """A file that the page offers, after its download."""
    file = page.folder / name
    for _ in range(200):
        if file.exists() and file.stat().st_size:
            return file.read_bytes()
        time.sleep(0.05)
    raise AssertionError(f"{name} did not come")


def press(page, selector: str):
    button = page.find_element(By.CSS_SELECTOR, selector)
    page.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", button)


def test_a_table_as_csv(page):
    press(page, "#table-4 button")
    head, *rows = csv.reader(io.StringIO(downloaded(page, "table-4.csv").decode()))
    assert head[1] == "T_const, µs: ours"  # quoted because of its comma
    table = page.find_element(By.CSS_SELECTOR, "#table-4 tbody")
    shown = page.execute_script(
        """
        return [...arguments[0].rows].map(row => [...row.cells].map(cell => cell.textContent))""",
        table,
    )
    assert rows == shown and len(rows) == 2


def test_a_figure_as_png(page):
    look(page, 1280, "dark")
    press(page, "#story button")
    with Image.open(io.BytesIO(downloaded(page, "story.png"))) as image:
        colours = image.convert("RGB").getcolors(1 << 24)
    (_, paper), *others = sorted(colours, reverse=True)
    assert max(paper) < 64  # dark, like the page
    assert any(min(colour) > 180 for _, colour in others)  # the text of the figure
    assert any(
        abs(red - 0x56) + abs(green - 0xB4) + abs(blue - 0xE9) < 9 for _, (red, green, blue) in others
    )  # the line of napi


@pytest.mark.parametrize("width", WIDTHS)
def test_links_lead_to_visible_titles(page, width):
    """The box with the variants stays at the top; it covers no title that a link leads to."""
    look(page, width, "light")
    for link in page.find_elements(By.CSS_SELECTOR, "nav a"):
        title, box = page.execute_async_script(
            """
            const [link, done] = arguments, top = element => element.getBoundingClientRect();
            link.click();
            requestAnimationFrame(() => requestAnimationFrame(() => done([
                top(document.querySelector(link.getAttribute("href") + "-title")).top,
                top(document.querySelector(".variants")).bottom])));""",
            link,
        )
        assert title >= min(box, HEIGHT - 1) - 0.5, link.get_attribute("href")


def test_the_end_of_the_overload_figure_is_visible_on_a_telephone(page):
    """Its right end, where livelock is, is visible without scrolling."""
    look(page, 420, "light")
    last = page.execute_script("""
        const plot = document.querySelector("#story .plot");
        return [plot.scrollWidth <= plot.clientWidth,
                Math.max(...[...plot.querySelectorAll("[data-tip]")].map(
                    mark => mark.getBoundingClientRect().right))];""")
    assert last[0] and 300 < last[1] <= 420


def box(page, name: str):
    """The element of a function in a flame graph."""
    return page.execute_script(
        """
        return [...document.querySelectorAll("g")].find(
            group => group.querySelector("title").textContent.startsWith(arguments[0] + ":"))""",
        name,
    )


@pytest.mark.parametrize("width", [1280, 700])
def test_a_flame_graph_s_file(browser, tmp_path, width):
    """It fits its window; a click zooms; the search finds functions."""
    file = tmp_path / "flames.svg"
    file.write_text(flame_graph.render([profile()]))
    look(browser, width, "light")
    browser.get(file.as_uri())

    def seen(name):
        return browser.execute_script(
            """
            const found = arguments[0].querySelector("rect").getBoundingClientRect();
            return [found.left, found.right]""",
            box(browser, name),
        )

    assert browser.execute_script("return document.documentElement.scrollWidth") == width
    assert seen("napi") == pytest.approx([1, width - 1], abs=1)
    assert (
        browser.execute_script("""
        return Math.max(...[...document.querySelectorAll("text")].map(
            text => text.getBoundingClientRect().right))""")
        <= width
    )
    field = browser.find_element(By.CSS_SELECTOR, "input")
    field.click()
    field.send_keys("handle_")
    assert browser.find_element(By.CSS_SELECTOR, "output").text == "1 boxes of 1 functions"
    assert box(browser, "handle_exception").get_attribute("class") == "hit"
    browser.execute_script(
        "arguments[0].dispatchEvent(new MouseEvent('click'))", box(browser, "handle_exception")
    )
    assert seen("handle_exception") == pytest.approx([0, width], abs=1)
    assert box(browser, "handle_exception").find_element(By.TAG_NAME, "text").text == "handle_exception"
    browser.find_element(By.CSS_SELECTOR, "button").click()
    assert seen("napi") == pytest.approx([1, width - 1], abs=1)
    assert browser.get_log("browser") == []


def test_flame_graph(page):
    look(page, 1280, "light")
    wide, narrow = page.find_elements(By.CSS_SELECTOR, ".flame g")
    assert [each.find_element(By.TAG_NAME, "text").text for each in (wide, narrow)] == ["ip_forward", ""]
    search = page.find_element(By.CSS_SELECTOR, ".tools input")
    search.send_keys("dst_")
    assert "hit" in narrow.get_attribute("class") and "hit" not in (wide.get_attribute("class") or "")
    assert page.find_element(By.CSS_SELECTOR, ".tools output").text == "1 boxes of 1 functions"
    page.execute_script("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", narrow)
    assert narrow.find_element(By.TAG_NAME, "text").text == "dst_input"
    assert float(narrow.find_element(By.TAG_NAME, "rect").get_attribute("width")) == 900
    press(page, ".tools button")
    assert float(narrow.find_element(By.TAG_NAME, "rect").get_attribute("width")) == 20
