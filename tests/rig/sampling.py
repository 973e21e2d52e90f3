"""The sampler's process: its setting comes as a line of JSON on stdin, samples go to stdout.

It ends when stdin ends, after the samples that are under way.
"""

import json
import ssl
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import urllib3

ANSWER_WITHIN = 5.0
THREADS_PER_PROBE = 64


class Sampling:
    """The loop and its requests."""

    def __init__(self, setting: dict[str, Any]) -> None:
        self._setting = setting
        self._lock = threading.Lock()
        context = ssl.create_default_context(cadata=setting["ca"])
        self._kept = urllib3.PoolManager(maxsize=THREADS_PER_PROBE, retries=False, ssl_context=context)
        self._fresh = urllib3.PoolManager(maxsize=1, retries=False, headers={"Connection": "close"})

    def run(self, ended: threading.Event) -> None:
        """Send each probe once per interval, on time, until told to end."""
        probes, interval = self._setting["probes"], self._setting["interval"]
        start, count = time.time(), 0
        with ThreadPoolExecutor(THREADS_PER_PROBE * len(probes)) as pool:
            while not ended.is_set():
                due = start + count * interval
                for probe in probes:
                    pool.submit(self._sample, probe, due)
                # After a stall the missed turns are left out: sent late and at once, they would hide it.
                count = max(count + 1, int((time.time() - start) / interval))
                ended.wait(max(0.0, start + count * interval - time.time()))

    def _sample(self, probe: dict[str, Any], due: float) -> None:
        sent = time.time()
        lost = self._lost(probe, sent + ANSWER_WITHIN)
        row = {"probe": probe["name"], "due": due, "sent": sent, "seconds": time.time() - sent, "lost": lost}
        with self._lock:
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()

    def _lost(self, probe: dict[str, Any], deadline: float) -> str | None:
        """Return why there was no right answer in time."""
        while True:
            left = deadline - time.time()
            if left <= 0:
                return f"no right answer within {ANSWER_WITHIN:g} s"
            try:
                answer = self._request(probe, left)
            except urllib3.exceptions.HTTPError as error:
                return f"{type(error).__name__}: {error}"
            wait = answer.headers.get("Retry-After")
            if answer.status != 429 or wait is None:
                return _wrong(probe, answer)
            time.sleep(min(float(wait), max(0.0, deadline - time.time())))

    def _request(self, probe: dict[str, Any], seconds: float) -> urllib3.BaseHTTPResponse:
        timeout = urllib3.Timeout(total=seconds)
        if probe["url"].startswith("http:"):
            return self._fresh.request(probe["method"], probe["url"], timeout=timeout)
        headers = {"Authorization": f"Bearer {self._setting['token']}", "Content-Type": "application/json"}
        body = None if probe["body"] is None else json.dumps(probe["body"])
        return self._kept.request(probe["method"], probe["url"], body=body, headers=headers, timeout=timeout)


def _wrong(probe: dict[str, Any], answer: urllib3.BaseHTTPResponse) -> str | None:
    text = answer.data.decode(errors="replace")
    if answer.status != probe["status"]:
        return f"{answer.status} {text[:300].strip()}"
    lacking = [wanted for wanted in probe["expect"] if wanted not in text]
    return f"the answer lacks {lacking}: {text[:300].strip()}" if lacking else None


def main() -> None:
    """Sample until stdin ends."""
    setting = json.loads(sys.stdin.readline())
    ended = threading.Event()
    threading.Thread(target=Sampling(setting).run, args=(ended,)).start()
    sys.stdin.read()
    ended.set()


main()
