# SPDX-License-Identifier: BSD-2-Clause
"""The page of `live --watch`: access to its server, and the page in a browser. The test replaces the
simulator."""

import asyncio
import json
import os
import re
import shutil
import socket
import time
import urllib.error
import urllib.request

import pytest
import tornado.websocket
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from moderato.sim.lab.live import cpu_terms, window

WAIT = 20  # seconds before a test fails
EVENTS = [
    "rx_interrupt",
    "tx_interrupt",
    "rx_completed",
    "tx_completed",
    "rx_drop_ring",
    "rx_drop_fifo",
    "rx_drop_error",
    "rx_drop_filter",
]
ABOUT = {
    "sys_clk_hz": 100_000_000,
    "replaying": False,
    "start": 0,
    "until": None,
    "mbps": 100,
    "events": EVENTS,
    "lines": [{"rx": 8, "tx": 16}, {"rx": 32, "tx": 64}],
    "queues": [1, 1],
    "terms": cpu_terms.shown(1),
    "strategy": None,
    "printed": "",
}


def queue(ring=192):
    """Its Rx moderation counts frames, and waits for at most 100 µs; its Tx moderation is off."""
    off = {
        "armed": False,
        "unreported": 3,
        "frames": 0,
        **dict.fromkeys(("packet", "absolute", "gap"), [0, 0]),
    }
    return {
        "ring": ring,
        "size": 256,
        "tx": off,
        "rx": {**off, "armed": True, "unreported": 7, "frames": 64, "absolute": [2500, 10_000]},
    }


class Simulator:
    """moderato-sim's end of the connection; `address` is the page's."""

    def __init__(self, socket_, address):
        self.socket, self.address = socket_, address
        socket_.settimeout(WAIT)

    def asked(self, do):
        """The next control of a kind."""
        while (control := json.loads(self.socket.recv(1 << 16)))["do"] != do:
            pass
        return control

    def tell(self, **message):
        self.socket.send(json.dumps(message).encode())

    def state(self, cycle, into=0, out=0, drops=0, queues=(192,), **changes):
        """Port 0 received frames, port 1 sent some, others found no descriptor. queues: their fill."""
        ports = [
            {
                "in": frames,
                "out": sent,
                "dropped": 0,
                "waiting": 0,
                "load": {"percent": 0, "octets": 64},
                "events": [frames, sent, frames, sent, lost, 0, 0, 0],
                "fill": {"fifo": 3, "queues": [queue(ring) for ring in queues]},
            }
            for frames, sent, lost in ((into, 0, drops), (0, out, 0))
        ]
        self.tell(
            state={
                "cycle": cycle,
                "paused": False,
                "ratio": None,
                "ports": ports,
                "idle": [cycle // 4],
                "lines": 4,
                "wfi": 0,
                "left_out": 0,
                "printed": "",
                "stacks": None,
                "moments": [
                    ["i", cycle - 2000, 0, 64],
                    ["u", cycle - 900, 3, 0],
                    ["o", cycle - 800, 1, 64],
                    ["x", cycle - 500, 0, 4],
                ],
                **changes,
            }
        )


@pytest.fixture
def simulator(capsys):
    with window.opened({"variant": "napi", "variants": ["original", "napi"]}) as descriptor:
        address = re.search(r"http://127\.0\.0\.1:\d+/\S+/", capsys.readouterr().err)[0]
        with socket.socket(fileno=os.dup(descriptor)) as ours:
            yield Simulator(ours, address)


# Access ----------------------------------------------------------------------------------------------


def status(address: str) -> int:
    try:
        with urllib.request.urlopen(address, timeout=WAIT) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_the_token_is_needed(simulator):
    host, token = re.fullmatch(r"(http://[^/]+/)([^/]{20,})/", simulator.address).groups()
    assert status(simulator.address) == status(f"{simulator.address}window.js") == 200
    for other in ("", "index.html", "x/", "x/window.js", "x/socket", f"{token[:-1]}/", f"{token}x/"):
        assert status(host + other) == 403, other
    assert status(f"{simulator.address}nothing") == 404
    assert status(f"{simulator.address}../window.py") in (403, 404)


def test_each_session_has_another_token(simulator, capsys):
    with window.opened({}):
        other = re.search(r"http://\S+/", capsys.readouterr().err)[0]
    assert other.split("/")[3] != simulator.address.split("/")[3]


def connect(address: str, origin: str | None = None):
    import tornado.httpclient

    request = tornado.httpclient.HTTPRequest(
        address.replace("http", "ws", 1) + "socket", headers={"Origin": origin} if origin else {}
    )
    return tornado.websocket.websocket_connect(request)


def test_another_origin_is_rejected(simulator):
    async def run():
        with pytest.raises(tornado.httpclient.HTTPClientError, match="403"):
            await connect(simulator.address, "http://example.org")
        host = re.sub("/[^/]+/$", "/x/", simulator.address)
        with pytest.raises(tornado.httpclient.HTTPClientError, match="403"):
            await connect(host)

    asyncio.run(run())


def test_messages_go_through(simulator):
    async def run():
        page = await connect(simulator.address)
        assert (await asyncio.to_thread(simulator.asked, "open")) == {"do": "open"}
        simulator.tell(about=ABOUT)
        told = json.loads(await page.read_message())["about"]
        assert told == {**ABOUT, "variant": "napi", "variants": ["original", "napi"]}
        await page.write_message(json.dumps({"do": "goto", "cycle": 7}))
        assert (await asyncio.to_thread(simulator.asked, "goto"))["cycle"] == 7
        for wrong in ("{", "[]", '{"do": "close"}', '{"do": ["run"]}', '{"go": 1}'):
            await page.write_message(wrong)
            assert json.loads(await page.read_message()) == {"note": "this is no control of a window"}, (
                wrong
            )
        other = await connect(simulator.address)
        await asyncio.to_thread(simulator.asked, "open")
        other.close()
        await page.write_message(json.dumps({"do": "run"}))  # the first page is still open
        await asyncio.to_thread(simulator.asked, "run")
        page.close()
        await asyncio.to_thread(simulator.asked, "close")

    asyncio.run(run())


def test_server_ends_with_the_simulator(capsys):
    with window.opened({}):
        address = re.search(r"http://\S+/", capsys.readouterr().err)[0]
        assert status(address) == 200
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        try:
            status(address)
        except OSError:
            return
        time.sleep(0.05)
    pytest.fail(f"{address} is still served")


# The page --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path_factory.mktemp('browser')}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    yield made
    made.quit()


@pytest.fixture
def page(browser, simulator):
    """page(fields of `about` in addition to ABOUT) → the browser, which shows a first state."""

    def run(fragment="", **changes):
        browser.get("about:blank")
        browser.get(simulator.address + fragment)
        simulator.asked("open")
        simulator.tell(about={**ABOUT, **changes})
        simulator.state(1_000_000)
        shows(browser, "cycle", "1000000")
        return browser

    yield run
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def shows(browser, name: str, text: str):
    WebDriverWait(browser, WAIT).until(lambda _: text in browser.find_element(By.ID, name).text)


def click(browser, selector: str):
    browser.find_element(By.CSS_SELECTOR, selector).click()


def test_figures(page, simulator):
    """Rates are per simulated time: 1 M cycles are 10 ms."""
    shown = page()
    simulator.state(2_000_000, into=1488, out=177, drops=1300)
    shows(shown, "plot-frames-0", "in 148\u202f800")
    shows(shown, "plot-frames-1", "out 17\u202f700")
    shows(shown, "plot-interrupts", "rx 148\u202f800")
    shows(shown, "plot-drops", "no descriptor 130\u202f000")
    shows(shown, "plot-ring", "port 0 192")
    shows(shown, "plot-terms", "idle 25")
    shows(shown, "box-0", "192 / 256")
    shows(shown, "box-0", "raised, low")  # source 3 of the PLIC
    shows(shown, "time", "0.020000")
    assert shown.find_element(By.ID, "moment").get_attribute("href").endswith("#cycle=2000000")


def test_wave_of_this_moment(page):
    """The command begins before the moment, and not before the recording."""
    command = "./moderato wave --replay lesson --output wave.fst"
    shown = page(wave=command)
    click(shown, "#wave")
    shows(shown, "wave-command", f"after the session: {command} --from 999000")
    shown = page(wave=command, replaying=True, start=999_500, until=2_000_000)
    click(shown, "#wave")
    shows(shown, "wave-command", f"{command} --from 999500")
    shown = page(wave=None)
    click(shown, "#wave")
    shows(shown, "wave-command", "--record FILE")


def test_what_the_cpu_does(page, simulator):
    """Stacks become terms; cycles of messages that come before the next point add up."""
    stacks = {
        "from": 0,
        "busy": [[3, 300_000]],
        "nodes": [[0, "[unknown]"], [0, "do_irq"], [1, "moderato_napi_poll"], [2, "memcpy"]],
    }
    shown = page()
    simulator.state(1_100_000, stacks=[stacks])
    simulator.state(
        2_000_000,
        stacks=[{"from": 4, "nodes": [[1, "printk"]], "busy": [[3, 50_000], [4, 100_000], [0, 10_000]]}],
    )
    shows(shown, "plot-terms", "T_RX 35")
    shows(shown, "plot-terms", "T_CS 10")  # printk() is a helper of do_irq()
    shows(shown, "plot-terms", "other 1")


def test_busy_follows_numbers():
    """A message from 0 on replaces all earlier numbers."""
    follows = cpu_terms.Busy()
    first = {"from": 0, "nodes": [[0, "[unknown]"], [0, "schedule"]], "busy": [[0, 1], [1, 5]]}
    assert follows.take([first]) == {"other": 1, "scheduler": 5}
    other = {"from": 0, "nodes": [[0, "[unknown]"], [0, "ip_rcv"]], "busy": [[1, 7]]}
    assert follows.take([{"from": 2, "nodes": [], "busy": [[1, 2]]}, other]) == {
        "scheduler": 2,
        "T_IP": 7,
    }
    assert follows.take([other]) == {"T_IP": 7}


def test_moderation(page, simulator):
    """Each queue's ring, and the progress of its conditions for an interrupt."""
    shown = page(queues=[2, 2])
    simulator.state(2_000_000, queues=(192, 5))
    shows(shown, "queue-1-0", "192 / 256")
    shows(shown, "queue-1-1", "5 / 256")
    shows(shown, "plot-ring", "port 1 queue 1 5")
    rows = [
        " ".join(line.text.split()) for line in shown.find_elements(By.CSS_SELECTOR, "#queue-0-1 tr")
    ]
    assert rows == [
        "Queue 1 Rx Tx",
        "Interrupt armed masked",
        "Unreported 7 of 64 3",
        "Packet timer off off",
        "Delay 25 of 100 µs off",
        "Gap off off",
    ]
    meters = [
        meter
        for meter in shown.find_elements(By.CSS_SELECTOR, "#queue-0-1 meter")
        if meter.is_displayed()
    ]
    assert [(meter.get_attribute("value"), meter.get_attribute("max")) for meter in meters] == [
        ("7", "64"),
        ("25", "100"),
    ]


def test_an_unused_queue(page, simulator):
    """Its ring has no descriptor, so its fill is unknown."""
    shown, idle = page(queues=[2, 2]), queue(256)
    idle["rx"] = {**idle["tx"], "unreported": 0}
    fill = {"fifo": 0, "queues": [queue(5), idle]}
    port = {
        "in": 0,
        "out": 0,
        "dropped": 0,
        "waiting": 0,
        "events": [0] * len(EVENTS),
        "load": {"percent": 0, "octets": 64},
        "fill": fill,
    }
    simulator.state(2_000_000, ports=[port, port])
    shows(shown, "queue-0-1", "not in use")
    shows(shown, "queue-0-0", "5 / 256")
    shows(shown, "plot-ring", "port 0 queue 1 0")


def test_controls(page, simulator):
    shown = page()
    click(shown, "#pause")
    assert simulator.asked("pause")
    simulator.state(1_000_000, paused=True)
    shows(shown, "state", "paused")
    click(shown, "#step-frame")
    assert simulator.asked("step")["to"] == "frame"
    click(shown, "#step-interrupt")
    assert simulator.asked("step")["to"] == "interrupt"
    click(shown, "#pause")
    assert simulator.asked("run")
    click(shown, "#pace option[value='0.0001']")
    assert simulator.asked("pace")["ratio"] == 1e-4
    click(shown, "#load button")
    assert simulator.asked("load") == {"do": "load", "port": 0, "percent": 100, "octets": 64}
    click(shown, "#unload")
    assert [simulator.asked("load")[name] for name in ("port", "percent")] == [0, 0]
    click(shown, "#name option[value='original']")
    click(shown, "#strategy button")
    assert simulator.asked("type")["text"] == "variant original\n"
    shown.find_element(By.ID, "coalesce").send_keys("rx-usecs 50\n")
    assert simulator.asked("type")["text"] == "ethtool -C eth0 rx-usecs 50\n"
    simulator.tell(note="it is so")
    shows(shown, "note", "it is so")


def test_a_page_that_is_opened_later(page, simulator):
    """Or loaded again: it shows the current strategy and pace, and the guest's earlier output."""
    shown = page(strategy="original", printed="# variant original\r\nboth ports: original\r\n# ")
    shows(shown, "variant", "· original")
    shows(shown, "console", "both ports: original")
    assert shown.find_element(By.ID, "name").get_attribute("value") == "original"
    assert shown.find_element(By.ID, "pace").get_attribute("value") == "0"
    shown = page(strategy="", printed="")  # unknown after a replay has gone back
    assert shown.find_element(By.ID, "variant").text == ""
    browser = shown
    browser.get("about:blank")
    browser.get(simulator.address)
    simulator.asked("open")
    simulator.tell(about=ABOUT)
    simulator.state(1_000_000, ratio=0.00001)
    shows(browser, "cycle", "1000000")
    assert browser.find_element(By.ID, "pace").get_attribute("value") == "0.00001"


@pytest.mark.parametrize(
    "answer, says",
    [
        ("both ports: original", ""),
        ("netlink error: Invalid argument", "the guest did not choose original; see its console"),
    ],
)
def test_a_strategy_that_takes_time(page, simulator, answer, says):
    """Under full load, the guest's console is slow: the page shows that it waits for the strategy."""
    shown = page()
    click(shown, "#name option[value='original']")
    click(shown, "#strategy button")
    simulator.asked("type")
    simulator.state(13_500_000, printed="variant ori")
    shows(shown, "choosing", "the guest is choosing original: 12.5 M cycles")
    simulator.state(73_000_000, printed="ginal\r\n")
    shows(shown, "choosing", "72.0 M cycles")
    simulator.state(74_000_000, printed=f"{answer}\r\n# ")
    shows(shown, "cycle", "74000000")
    WebDriverWait(shown, WAIT).until(lambda _: shown.find_element(By.ID, "choosing").text == says)


def test_a_recording(page, simulator):
    """The page of a replay allows no input, and goes to the cycle in the link."""
    shown = page("#cycle=5000000", replaying=True)
    assert simulator.asked("goto")["cycle"] == 5_000_000
    shows(shown, "state", "running, a recording")
    shows(shown, "replaying", "the box gets the recorded input")
    inputs = shown.find_elements(By.CSS_SELECTOR, "#inputs button, #inputs input, #inputs select")
    assert inputs and not any(one.is_enabled() for one in inputs)
    assert shown.find_element(By.ID, "step-frame").is_enabled()


def test_the_end_of_a_recording(page, simulator):
    shown = page(replaying=True, start=1_000_000, until=9_000_000)
    simulator.state(9_000_000, into=1488, paused=True)
    shows(shown, "state", "paused, the end of a recording")
    assert shown.find_element(By.ID, "back-frame").is_enabled()


def test_going_back(page, simulator):
    """In a replay, the page forgets later events."""
    shown = page(replaying=True, start=1_000_000, until=9_000_000)
    simulator.state(2_000_000, into=1488, printed="early\n")
    simulator.state(3_000_000, into=1488, printed="late\n")
    shows(shown, "console", "late")
    click(shown, "#back-frame")
    assert simulator.asked("goto")["cycle"] == 2_999_200  # the frame that left
    simulator.state(2_100_000, into=1488, paused=True)
    shows(shown, "cycle", "2100000")
    assert shown.find_element(By.ID, "console").text == ""
    click(shown, "#back-interrupt")
    assert simulator.asked("goto")["cycle"] == 2_099_100
    shown.execute_script(
        "const p = document.getElementById('position'); p.value = 5000000;"
        "p.dispatchEvent(new Event('change'))"
    )
    assert simulator.asked("goto")["cycle"] == 5_000_000
    shown.execute_script("location.hash = '#cycle=1200000'")
    assert simulator.asked("goto")["cycle"] == 1_200_000


def test_latency(page, simulator):
    shown = page()
    left = [["o", 1_900_000 + 1000 * n, 1, 64, cycles] for n, cycles in enumerate((900, 30_000, 4000))]
    simulator.state(2_000_000, moments=[*left, ["o", 1_950_000, 1, 64]])  # one frame never entered
    shows(shown, "plot-latency", "median 40")
    shows(shown, "plot-latency", "longest 300")
    simulator.state(3_000_000, moments=[])
    shows(shown, "plot-latency", "median –")


def test_the_lesson(page, simulator):
    """`livelock`: original under full load, then napi, each chosen at the console."""
    shown, cycle = page(), 1_000_000
    click(shown, "#livelock")
    for name, out in ("original", 0), ("napi", 531):
        assert simulator.asked("type")["text"] == f"variant {name}\n"
        simulator.state(cycle, printed=f"variant {name}\r\nboth ports: {name}\r\n# ")
        assert simulator.asked("load")["percent"] == 100
        for passed, left in (3_000_000, 0), (3_000_000, out):
            time.sleep(0.3)  # the page has shown the earlier states
            cycle += passed
            simulator.state(cycle, out=left)
        if name == "original":
            assert simulator.asked("load")["percent"] == 0
            time.sleep(0.3)
            cycle += 2_000_000
            simulator.state(cycle)
    shows(shown, "lesson", "original: 0 frames/s left port 1; napi: 17\u202f700 frames/s left port 1")
    shows(shown, "console", "both ports: napi")
    shows(shown, "variant", "· napi")


def test_the_end(page, simulator):
    shown = page()
    simulator.tell(ended=1_000_000)
    shows(shown, "state", "ended")
    shows(shown, "note", "the session has ended")
    assert not shown.find_element(By.ID, "pause").is_enabled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_readable(page, simulator, width, scheme):
    """No element is wider than the window, and texts have contrast."""
    shown = page()
    shown.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    shown.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    simulator.state(2_000_000, into=1488, out=177)
    shows(shown, "plot-frames-0", "148")
    assert shown.execute_script("return document.documentElement.scrollWidth") <= width
    ink, paper = shown.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
        ".map(c => c.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3)"
    )
    assert abs(ink - paper) > 150 and (paper < 60) == (scheme == "dark")
    # The wires are drawn: more pixels than the background's.
    assert (
        shown.execute_script(
            "const c = document.getElementById('wires'); const d = c.getContext('2d')"
            ".getImageData(0, 0, c.width, c.height).data; return new Set(new Uint32Array(d.buffer)).size"
        )
        > 4
    )
