"""What is done again and again beside a load."""

import threading


class EachSecond:
    """Calls a function once a second while the `with` block runs, and counts how often."""

    def __init__(self, call):
        self._call = call
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.calls = 0

    def _run(self):
        while not self._stop.is_set():
            self._call()
            self.calls += 1
            self._stop.wait(1)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
