#!/usr/bin/env python3
"""admin_page.py BIN OUT [AXE]: looks at a server's page for people in headless Chromium, as an operator would, while a
job reads from it, and while it ends and starts anew.

Pictures of the page are left in the folder OUT. AXE is axe-core's script; without it the test says
that it was not asked. Returns 77 where there is no Chromium.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
except ImportError:
    print("SKIPPED: no python3-selenium; ./dev setup installs it")
    sys.exit(77)

BIN, OUT = Path(sys.argv[1]), Path(sys.argv[2])
AXE = Path(sys.argv[3]).read_text() if len(sys.argv) > 3 else None
TOKEN = "a-token-of-enough-bytes"
BAD = "<img src=x onerror=alert(1)>.jpg"  # A page that took a name for HTML would ask for x.
PIPELINE = "ops: [{RandomResizedCrop: {size: 64}}, {RandomHorizontalFlip: {}}]\nbad_samples: substitute\n"
CONTROLS = "a[href], button, select, input, summary"


class Server:
    def __init__(self, folder, config, admin="127.0.0.1:0"):
        file = folder / f"{time.monotonic_ns()}.yaml"
        file.write_text(json.dumps({**config, "listen": "127.0.0.1:0", "admin": {**config["admin"], "listen": admin}}))
        self.log = file.with_suffix(".log")
        command = [BIN / "stokerd", "serve", "--config", file, "--cache-dir", folder / "cache"]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        self.address, self.admin = (self.process.stdout.readline().rpartition(" ")[2].strip() for _ in range(2))
        assert self.admin, self.log.read_text()

    def end(self):
        self.process.kill()
        self.process.wait()


def browser(home):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        print("SKIPPED: no chromium and chromedriver; ./dev setup installs them")
        sys.exit(77)
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    # In a container Chromium can set up no sandbox, and /dev/shm may be small.
    for flag in (
        "headless=new no-sandbox disable-dev-shm-usage disable-gpu hide-scrollbars no-first-run no-proxy-server "
        "disable-background-networking disable-component-update disable-sync force-prefers-reduced-motion"
    ).split():
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    os.environ.update(HOME=str(home), NO_PROXY="127.0.0.1,localhost", no_proxy="127.0.0.1,localhost")
    return webdriver.Chrome(options=options, service=Service(driver))


class Page:
    """The page in the browser. It waits for what is to come, and fails where it does not come in two minutes."""

    def __init__(self, driver, origin):
        self.driver, self.origin = driver, origin
        self.requests, self.complaints = [], []

    def open(self):
        self.driver.get(self.origin + "/")

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.find(selector).text

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, what, condition):
        end = time.monotonic() + 120
        while not condition():
            assert time.monotonic() < end, f"{what} did not come:\n{self.text('body')}"
            time.sleep(0.1)

    def wait_for_state(self, words):
        self.wait(words, lambda: self.text("#state") == words)

    def cells(self, table):
        """The rows of a table as lists of texts, also those that lie outside the window."""
        return self.run(
            "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
            ".map(row => [...row.cells].map(cell => cell.innerText))",
            table,
        )

    def row(self, table):
        """The table's first row by the names of its columns."""
        names = self.run(
            "return [...document.querySelectorAll(arguments[0] + ' thead th')].map(th => th.innerText)", table
        )
        return dict(zip(names, self.cells(table)[0]))

    def resize(self, width, height=900):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def picture(self, name, width):
        """A picture of all of the page. It is nowhere wider than the window."""
        self.resize(width)
        widths = self.run("return [document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1] == width, (name, widths)
        self.resize(width, self.run("return document.documentElement.scrollHeight"))
        self.driver.save_screenshot(str(OUT / f"{name}.png"))
        self.resize(1280)

    def note(self):
        """Takes up what the browser told of requests and of complaints. It forgets what it told."""
        self.complaints += self.driver.get_log("browser")
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"])


def figure(text):
    """The number that a text begins with: of "1,234/s" 1234; 0 where there is none yet."""
    digits = text.replace(",", "").replace("\u00a0", " ").split("/")[0].split(" ")[0]
    return float(digits) if digits.replace(".", "").isdigit() else 0.0


def check_by_axe(page, where):
    if AXE is None:
        return
    page.run(AXE)
    done = page.driver.execute_async_script(
        "const end = arguments[0]; axe.run(document).then(end, error => end({error: '' + error}))"
    )
    assert "violations" in done, done
    assert len(done["passes"]) > 15, f"axe looked at next to nothing: {len(done['passes'])}"
    bad = [
        f"{one['id']}: {node['html']}"
        for one in done["violations"]
        for node in one["nodes"]
        if one["impact"] in ("serious", "critical")
    ]
    assert not bad, f"{where}: " + "\n".join(bad)


def check_token(page):
    page.open()
    page.wait("the form", lambda: page.find("#login").is_displayed())
    assert not page.find("#content").is_displayed() and not page.find("#forget").is_displayed()
    assert page.driver.switch_to.active_element.get_attribute("id") == "token"
    check_by_axe(page, "the form")
    page.picture("token", 800)
    page.find("#token").send_keys("a-wrong-token", Keys.ENTER)
    page.wait("a refusal", lambda: page.text("#refused") == "That is not the server's token.")
    assert not page.find("#content").is_displayed()
    page.find("#token").send_keys(Keys.CONTROL, "a")
    page.find("#token").send_keys(TOKEN, Keys.ENTER)
    page.wait_for_state("Healthy")
    assert page.find("#content").is_displayed() and not page.find("#login").is_displayed()
    page.open()  # The tab has kept it.
    page.wait_for_state("Healthy")


def check_numbers(page, server):
    assert page.text("#address") == server.address and server.address in page.driver.title
    for plot in range(1, 4):
        page.wait("a rate", lambda: figure(page.text(f"#plots > :nth-child({plot}) b")) > 0)
        line = page.find(f"#plots > :nth-child({plot}) svg[role=img] path:not(.area)")
        page.wait("a line", lambda: "L" in line.get_attribute("d"))
    names = page.run(
        "return [...document.querySelectorAll('#plots svg[role=img]')].map(svg => svg.getAttribute('aria-label'))"
    )
    assert len(names) == 4 and names[0].startswith("Samples, samples per second: now "), names
    page.wait("a verdict", lambda: page.text("#verdict b") not in ("Measuring …", "Asking the server …"))
    assert page.text("#verdict").startswith(("No client waits", "Clients wait: ")), page.text("#verdict")
    page.wait("a stream", lambda: page.cells("#streams") and figure(page.row("#streams")["Samples/s"]) > 0)
    stream = page.row("#streams")
    assert (
        stream["Client"].startswith("ipv4:127.0.0.1:") and stream["Dataset"] == "photos" and figure(stream["Spans"]) > 0
    )
    dataset = page.row("#datasets")
    assert dataset["Dataset"].startswith("photos\n") and dataset["Size"] == "40" and dataset["Streams"] == "1", dataset
    assert figure(dataset["Samples/s"]) > 0 and len(dataset["Fingerprint"]) == 64
    page.wait("a substitute", lambda: figure(page.row("#datasets")["Substituted"]) > 0)
    stages = page.row("#stages")
    assert stages["Dataset"] == "photos" and stages["mean of"] == "last 10 s", stages
    assert all(figure(stages[name]) > 0 for name in ("read", "decode", "augment", "all")), stages
    cache = page.row("#caches")
    assert cache["Cache"].startswith("Spans\n") and cache["Keeps"].endswith("iB"), cache
    page.wait("a problem", lambda: BAD in page.text("#problems"))
    assert not page.run("return document.querySelector('img[src=x]')")
    assert figure(page.run("return [...document.querySelectorAll('#figures dd')].pop().textContent")) > 0


def check_peers(page, peer):
    rows = page.driver.find_elements(By.CSS_SELECTOR, "#peers li")
    assert rows[0].find_element(By.CSS_SELECTOR, "a").get_attribute("href") == f"http://{peer.admin}/"
    page.wait("a peer", lambda: rows[0].text.endswith("\nReady"))
    page.wait("no peer", lambda: rows[1].text.endswith("\nNot reachable"))
    peer.end()


def check_preview(page):
    assert [option.text for option in Select(page.find("#dataset")).options] == ["photos"]

    def draw(button, words):
        """Presses it, and again where the workers were too busy with the job's samples."""
        page.find(button).click()
        page.wait("an answer", lambda: page.text("#drawn") not in ("", "The server draws …"))
        if "too busy" in page.text("#drawn") or "does not answer" in page.text("#drawn"):
            return draw("#preview form button", words)
        assert words in page.text("#drawn"), page.text("#drawn")

    draw("#preview form button", "Samples 0 to 17 of photos, which has 40")
    page.wait("a sheet", lambda: page.run("return document.getElementById('sheet').naturalWidth") == 6 * 160)
    alternative = page.find("#sheet").get_attribute("alt")
    assert alternative == "Contact sheet, rows of six: images of samples 0 to 17 of photos, which has 40", alternative
    draw("#next", "Samples 18 to 35 of photos, which has 40")
    page.run("document.getElementById('first').value = 1000")
    draw("#preview form button", "there are 40 samples")
    draw("#next", "Samples 0 to 17 of photos, which has 40")  # After the last it begins anew.


def check_keyboard(page):
    """Tab reaches all that can be worked, in the order that it stands in; and it works by keys."""
    page.find("#history").find_element(By.XPATH, "..").find_element(By.CSS_SELECTOR, "summary").send_keys(Keys.ENTER)
    page.wait("a table", lambda: len(page.cells("#history")) > 0 and figure(page.row("#history")["Samples/s"]) > 0)
    page.run("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)")
    controls = [one for one in page.driver.find_elements(By.CSS_SELECTOR, CONTROLS) if one.is_displayed()]
    assert len(controls) >= 25, len(controls)
    reached = []
    page.run("document.querySelector('.skip').focus()")
    for _ in range(2 * len(controls) + 20):
        focused = page.driver.switch_to.active_element
        if focused in reached:
            break
        if focused.tag_name != "body":
            reached.append(focused)
            outline = focused.value_of_css_property("outline-style")
            assert outline != "none", f"the focus cannot be seen on {focused.get_attribute('outerHTML')[:200]}"
        focused.send_keys(Keys.TAB)
    missed = [one.get_attribute("outerHTML")[:200] for one in controls if one not in reached]
    assert not missed, missed
    assert [one for one in reached if one in controls] == controls, "the order of tabs is not that of the page"
    page.find(".skip").send_keys(Keys.ENTER)
    page.wait("the content", lambda: page.driver.switch_to.active_element.get_attribute("id") == "main")
    head = page.find("#streams thead th:nth-child(4)")
    for order in ("descending", "ascending"):
        head.find_element(By.CSS_SELECTOR, "button").send_keys(Keys.SPACE)
        assert head.get_attribute("aria-sort") == order
    page.find("#pause").send_keys(Keys.SPACE)
    page.wait_for_state("Paused")
    assert page.text("#pause") == "Resume" and page.text("#say") == "Paused."
    page.find("#pause").send_keys(Keys.SPACE)
    page.wait_for_state("Healthy")
    page.wait("a rate", lambda: figure(page.text("#plots b")) > 0)


def check_colors(page):
    backs = []
    for theme in ("light", "dark"):
        Select(page.find("#theme")).select_by_value(theme)
        backs.append(page.find("body").value_of_css_property("background-color"))
        check_by_axe(page, theme)
        page.picture(theme, 1280)
        page.picture(f"{theme}-400", 400)
    assert backs[0] != backs[1]
    page.open()
    page.wait_for_state("Healthy")
    assert page.find("body").value_of_css_property("background-color") == backs[1], "it is kept"
    page.wait("a rate", lambda: figure(page.text("#plots b")) > 0)
    page.picture("dark-360", 360)
    page.picture("dark-2560", 2560)
    Select(page.find("#theme")).select_by_value("")
    for scheme, back in zip(("light", "dark"), backs):
        page.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        assert page.find("body").value_of_css_property("background-color") == back, "it follows the system"


def check_layout(page):
    """What is shown stays where it is while polls go on."""
    page.run(
        "window.shifted = 0; window.polls = 0;"
        "new PerformanceObserver(seen => seen.getEntries().forEach(one => { window.shifted += one.value; }))"
        ".observe({type: 'layout-shift'});"
        "new MutationObserver(() => ++window.polls).observe(document.getElementById('facts'), {childList: true});"
    )
    page.wait("polls", lambda: page.run("return window.polls") >= 3)
    assert page.run("return window.shifted") < 0.02, page.run("return window.shifted")


def check_end(page, folder, server, config, reader):
    """It says that a server drains, that it is gone, and that it is back."""
    reader.send_signal(signal.SIGSTOP)  # It takes nothing now, so that something is owed.
    server.process.send_signal(signal.SIGTERM)
    page.wait_for_state("Draining")
    page.wait("words", lambda: page.text("#say").startswith("The server drains"))
    server.end()
    page.wait_for_state("Not reachable")
    assert "does not answer since" in page.text("#problem")
    again = Server(folder, config, admin=server.admin)
    try:
        page.wait_for_state("Healthy")
        assert not page.find("#problem").is_displayed()
        page.wait("quiet", lambda: page.text("#verdict b") == "No client reads.")
        page.find("#forget").click()
        page.wait("the form", lambda: page.find("#login").is_displayed())
        page.open()
        page.wait("the form", lambda: page.find("#login").is_displayed())
    finally:
        again.end()


def check_traffic(page, peers):
    """Nothing was asked of others but the peers' readiness, without the token, and nothing was complained of."""
    page.note()
    asked = set()
    for request in page.requests:
        url = request["url"]
        if url.startswith(("data:", f"blob:{page.origin}/", page.origin + "/")):
            continue
        assert url in [f"{peer}/readyz" for peer in peers], url
        assert not any(name.lower() == "authorization" for name in request["headers"]), request
        asked.add(url)
    assert len(asked) == len(peers) and any("Authorization" in request["headers"] for request in page.requests)
    # The browser itself notes what was refused, and what was not there.
    expected = (
        "/status - Failed to load resource",
        "/readyz - Failed to load resource",
        "/preview?dataset=photos&first=",
    )
    for complaint in page.complaints:
        assert complaint["source"] == "network" and any(text in complaint["message"] for text in expected), complaint


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        driver = browser(folder)
        stack.callback(driver.quit)
        driver.set_script_timeout(120)
        photos = folder / "photos"
        subprocess.run(
            [
                BIN / "make-photo-folder",
                photos,
                "--classes",
                "2",
                "--images",
                "20",
                "--width",
                "300",
                "--height",
                "200",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        bad = min(photos.rglob("*.jpg"))
        bad.rename(bad.with_name(BAD)).write_bytes(b"no image")
        (folder / "token").write_text(TOKEN + "\n")
        (folder / "pipeline.yaml").write_text(PIPELINE)
        noise = {
            "name": "noise",
            "synthetic": {"samples": 8, "fields": [{"name": "x", "dtype": "uint8", "shape": [4]}]},
        }
        peer = Server(folder, {"datasets": [noise], "admin": {}})
        stack.callback(peer.end)
        peers = [f"http://{peer.admin}", "http://127.0.0.1:4"]  # Nothing answers at that port.
        config = {
            "datasets": [{"name": "photos", "image_folder": {"path": str(photos)}}],
            "span_cache": "4MiB",
            "workers": 1,
            "admin": {"token_file": str(folder / "token"), "peers": peers, "preview": True},
        }
        server = Server(folder, config)
        stack.callback(server.end)
        command = [
            BIN / "stoker",
            "bench",
            "--servers",
            server.address,
            "--batches",
            "1000000000",
            "--batch-size",
            "16",
            "--quiet",
        ]
        reader = subprocess.Popen([*command, "--pipeline", folder / "pipeline.yaml"], stdout=subprocess.DEVNULL)
        stack.callback(reader.wait)
        stack.callback(reader.kill)
        page = Page(driver, f"http://{server.admin}")
        page.resize(1280)
        check_token(page)
        check_numbers(page, server)
        check_peers(page, peer)
        check_preview(page)
        check_keyboard(page)
        check_layout(page)
        page.wait("the peer's end", lambda: page.text("#peers li").endswith("\nNot reachable"))
        check_colors(page)
        page.note()
        check_end(page, folder, server, config, reader)
        check_traffic(page, peers)
    print(f"admin_page.py: the page is as it should be; pictures are in {OUT}")
    if AXE is None:
        print("admin_page.py: not checked by axe-core, which could not be installed")


if __name__ == "__main__":
    main()
