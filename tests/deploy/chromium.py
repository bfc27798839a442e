# SPDX-License-Identifier: BSD-2-Clause
"""A headless Chromium for tests of web pages, driven by its DevTools protocol over a pipe."""
import base64
import fcntl
import json
import os
import select
import subprocess
import time

# No sandbox: tests run as root, and the page is a local file. WebGL by the CPU.
OPTIONS = ["--headless", "--no-sandbox", "--single-process", "--no-zygote",
           "--allow-file-access-from-files", "--use-gl=angle", "--use-angle=swiftshader",
           "--enable-unsafe-swiftshader", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
# In the locale C it has a language that its own JavaScript does not take.
LANGUAGE = {"LC_ALL": "en_US.UTF-8", "LANGUAGE": "en_US"}
SECONDS = 60


class Chromium:
    """One page. `console` has what it wrote to its console."""

    def __init__(self, folder, profile):
        ours_to, self._to = os.pipe()
        self._from, ours_from = os.pipe()
        # Above the descriptors of the protocol, which are 3 and 4.
        read, write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (ours_to, ours_from))

        def give_pipes():
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._number = 0
        self._rest = b""
        self._session = None
        self._contexts = {}  # of JavaScript, by the frame's id
        self.console = []
        self._process = subprocess.Popen(
            [str(folder / "chromium"), *OPTIONS, f"--user-data-dir={profile}"],
            env={**os.environ, "LD_LIBRARY_PATH": str(folder / "lib"), **LANGUAGE}, pass_fds=(3, 4),
            preexec_fn=give_pipes, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in ours_to, ours_from, read, write:
            os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _message(self):
        end = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], end - time.monotonic())
            data = os.read(self._from, 1 << 16) if ready else b""
            assert data, "Chromium does not answer"
            self._rest += data
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _call(self, method, **parameters):
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            request["sessionId"] = self._session
        os.write(self._to, json.dumps(request).encode() + b"\0")
        while True:
            message = self._message()
            if message.get("method") == "Runtime.consoleAPICalled":
                self.console.append(" ".join(str(value.get("value", value.get("description")))
                                             for value in message["params"]["args"]))
            elif message.get("method") == "Runtime.exceptionThrown":
                self.console.append(f"exception: {message['params']}")
            elif message.get("method") == "Runtime.executionContextCreated":
                context = message["params"]["context"]
                if context["auxData"]["isDefault"]:
                    self._contexts[context["auxData"]["frameId"]] = context["id"]
            elif message.get("method") == "Log.entryAdded":
                self.console.append(f"{message['params']['entry']['level']}: "
                                    f"{message['params']['entry']['text']}")
            elif message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]

    def open(self, url):
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target,
                                   flatten=True)["sessionId"]
        self._call("Runtime.enable")
        self._call("Log.enable")  # has violations of a policy, and requests that failed
        self._call("Page.navigate", url=url)

    def look(self, width, height, scheme="light"):
        """Sets the size of the page, and whether the user likes it light or dark."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                   deviceScaleFactor=1, mobile=width < 500)
        self._call("Emulation.setEmulatedMedia",
                   features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        """Writes the whole page as PNG."""
        picture = self._call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(picture))

    def evaluate(self, expression, frame=None):
        """The expression's value in the page, or in the frame with that id."""
        context = {"contextId": self._contexts[frame]} if frame else {}
        return self._call("Runtime.evaluate", expression=expression, returnByValue=True,
                          awaitPromise=True, **context)["result"].get("value")

    def wait_for_frame(self, words):
        """
        Scrolls to the page's only iframe, and waits until it has the words and was drawn. Chromium
        draws no frame of another origin, as one in a sandbox is, that is out of sight.
        """
        self.wait_for("performance.getEntriesByType('resource').some(each => "
                      "each.initiatorType === 'iframe')")  # it has been loaded
        self.evaluate("document.querySelector('iframe').scrollIntoView()")
        frame, = self._call("Page.getFrameTree")["frameTree"]["childFrames"]
        self.wait_for(
            "new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn("
            "document.readyState === 'complete' && "
            f"document.documentElement.textContent.includes({json.dumps(words)})))))",
            frame["frame"]["id"])

    def wait_for(self, expression, frame=None):
        """Returns the expression's value once it is true."""
        end = time.monotonic() + SECONDS
        while not (value := self.evaluate(expression, frame)):
            assert time.monotonic() < end, (
                f"{expression} is not true: {self.console}, "
                f"{self.evaluate('document.body.innerText')}")
            time.sleep(0.1)
        return value
