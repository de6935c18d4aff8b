"""A job that writes while the catalog changes under it."""

import threading
import time

MOST_ERRORS = 200
# An engine that repeats a refused commit takes minutes where other programs want the processor too.
MOST_SECONDS = 240


class Loop:
    """Appends rows until it is stopped; remembers which were acknowledged, and what it was refused with."""

    def __init__(self, append):
        self.acknowledged, self.errors = [], []
        self.append, self.over = append, False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        one = 1000
        while not self.over:
            one += 1
            try:
                self.append(one)
                self.acknowledged.append(one)
            except BaseException as error:  # noqa: B902
                self.errors.append(error)
                if len(self.errors) > MOST_ERRORS:
                    return
                time.sleep(0.02)

    def attempts(self):
        return len(self.acknowledged) + len(self.errors)

    def wait(self, count, since=0):
        """Until that many appends were tried after the first `since`, or the loop gave up."""
        begun = time.time()
        while self.attempts() < since + count and self.thread.is_alive():
            assert time.time() - begun < MOST_SECONDS, "the loop stands still"
            time.sleep(0.005)

    def stop(self):
        self.over = True
        self.thread.join()
