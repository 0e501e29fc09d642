"""Drives a headless chromium over its DevTools protocol."""

import base64
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

import websocket


def read_script(name):
    """An expression of JavaScript that stands in a file of this folder, for Browser.run."""
    return pathlib.Path(__file__).with_name(name).read_text(encoding="utf-8").rstrip().rstrip(";")


class Browser:
    """One browser with one page. It notes what the page writes to the console, and which requests it makes."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="lab-book-")
        # Without a sandbox it also runs as root where users have no namespaces of their own; it only opens the lab's
        # own page.
        self.process = subprocess.Popen(
            [
                "chromium",
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-ipc-flooding-protection",
                "--no-proxy-server",
                "--hide-scrollbars",
                "--remote-debugging-port=0",
                f"--user-data-dir={self.folder}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.number = 0
        self.complaints = []
        self.requests = []
        try:
            self.socket = websocket.create_connection(self._page_address(), timeout=300, suppress_origin=True)
            for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def _page_address(self):
        port_file = pathlib.Path(self.folder, "DevToolsActivePort")
        ends = time.monotonic() + 30
        while time.monotonic() < ends and self.process.poll() is None:
            try:
                port, path = port_file.read_text().split()
            except (OSError, ValueError):
                time.sleep(0.05)
                continue
            browser = websocket.create_connection(f"ws://127.0.0.1:{port}{path}", timeout=30, suppress_origin=True)
            browser.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
            while (answer := json.loads(browser.recv())).get("id") != 1:
                pass
            browser.close()
            page = next(it for it in answer["result"]["targetInfos"] if it["type"] == "page")
            return f"ws://127.0.0.1:{port}/devtools/page/{page['targetId']}"
        raise SystemExit("error: chromium does not start here")

    def call(self, method, **parameters):
        """Sends a command, and returns its result; events that come in between are noted."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._note(message)

    def _note(self, event):
        what = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(it.get("description", it.get("value"))) for it in what["args"]))
        elif event.get("method") == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.complaints.append(what["entry"]["text"])
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])

    def run(self, script, **values):
        """Evaluates an expression in the page, and returns its value. `values` are constants of the script."""
        names = "".join(f"const {name} = {json.dumps(value)};" for name, value in values.items())
        answer = self.call(
            "Runtime.evaluate",
            expression=f"(async () => {{ {names} return (\n{script}\n); }})()",
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(
                answer["exceptionDetails"]["exception"].get("description", "the script failed") + "\n" + script
            )
        return answer["result"].get("value")

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call(
            "Emulation.setEmulatedMedia",
            media="",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )

    def picture(self, path):
        shot = self.call("Page.captureScreenshot", format="png")
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
