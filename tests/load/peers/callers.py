"""Callers that each ask for the next item as soon as they have been served."""

import queue
import threading
import time


def serve_all(items, callers, serve):
    """Calls serve(item, number of the caller) for each item, in so many threads. Returns the seconds that each call took."""
    waiting = queue.SimpleQueue()
    for item in items:
        waiting.put(item)
    seconds = []

    def work(number):
        while True:
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            start = time.perf_counter()
            serve(item, number)
            seconds.append(time.perf_counter() - start)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds
