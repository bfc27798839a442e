# SPDX-License-Identifier: BSD-2-Clause
"""A real Prometheus server that scrapes what a test names, and answers its queries."""
import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from lib.scrape import hold_port


class Prometheus:
    """
    Debian's Prometheus on a free loopback port, with a data directory of its own. `jobs`: the
    addresses to scrape by the job's name; `rules`: a file; `labels`: of all targets.
    """

    def __init__(self, directory, jobs, interval="3s", rules=None, labels=None):
        self.port = hold_port()
        address = "127.0.0.1:%d" % self.port.getsockname()[1]
        self.url = f"http://{address}"
        config = {
            "global": {"scrape_interval": interval, "scrape_timeout": interval,
                       "evaluation_interval": interval},
            "rule_files": [str(rules)] if rules else [],
            "scrape_configs": [
                {"job_name": name, "static_configs": [{
                    "targets": [addresses] if isinstance(addresses, str) else addresses,
                    "labels": labels or {}}]} for name, addresses in jobs.items()],
        }
        # JSON is YAML.
        (directory / "prometheus.yml").write_text(json.dumps(config))
        self.log = (directory / "log").open("w+")
        self.process = subprocess.Popen(["prometheus", f"--config.file={directory}/prometheus.yml",
                                         f"--storage.tsdb.path={directory}/data",
                                         f"--web.listen-address={address}", "--log.level=warn"],
                                        stdout=self.log, stderr=subprocess.STDOUT, cwd=directory)

    def get(self, path, **parameters):
        asked = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.load(answer)["data"]

    def query(self, expression):
        """labels -> value"""
        return [(result["metric"], float(result["value"][1])) for result in
                self.get("query", query=expression)["result"]]

    def wait(self, expression, timeout=120):
        """The answer to a query as soon as there is one."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            try:
                if found := self.query(expression):
                    return found
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                pass
            assert self.process.poll() is None, self.said()
            time.sleep(0.1)
        raise TimeoutError(f"no answer to {expression}: {self.said()}")

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def close(self):
        self.process.terminate()
        self.process.wait(60)
        self.log.close()
        self.port.close()
