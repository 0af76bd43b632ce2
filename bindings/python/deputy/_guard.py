# SPDX-License-Identifier: Apache-2.0
"""Admits one call into an interpreter at a time.

The library's objects may be used by one thread at a time, and every call releases Python's lock. A
call that changes the interpreter therefore excludes all others: a concurrent call that changes it
or copies contents raises RuntimeError, as in LiteRT, and one that reads names and shapes waits.
"""
import threading


class CallGuard:
    """Three kinds of calls:

    - `begin` ... `end`: a call that changes the interpreter, such as invoke().
    - `with contents(name)`: a short call that copies contents; waits for other short calls.
    - `with metadata`: reads names and shapes only; waits for the call that is running.
    """

    def __init__(self):
        self._lock = threading.RLock()
        self._running = None  # Name of the call between begin() and end().
        self.metadata = self._lock

    def _enter(self, call):
        if not self._lock.acquire(blocking=False):
            running = self._running
            if running is not None:
                raise RuntimeError(_busy(call, running))
            self._lock.acquire()  # Another thread is in a short call.
        if self._running is not None:
            # The caller is a callback of the running call, or a signal handler in the same thread.
            running = self._running
            self._lock.release()
            raise RuntimeError(_busy(call, running))

    def begin(self, call):
        """Raises RuntimeError while another call that changes the interpreter runs."""
        self._enter(call)
        self._running = call

    def end(self):
        """Ends the call that begin() started."""
        self._running = None
        self._lock.release()

    def contents(self, call):
        """Returns a context manager for a short call; entering it may raise like begin()."""
        self._enter(call)
        return _Releasing(self._lock)

    def exclusive(self, call):
        """Returns a context manager that calls begin() and end()."""
        self.begin(call)
        return _Ending(self)


class _Releasing:
    def __init__(self, lock):
        self._lock = lock

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._lock.release()


class _Ending:
    def __init__(self, guard):
        self._guard = guard

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._guard.end()


def _busy(call, running):
    return (f'{call}: {running} is running on this interpreter, in another thread or in a callback. '
            'An interpreter serves one call at a time: use a lock, or one interpreter per thread.')
