"""Runs commands for another process and says what each took: a JSON list of words per line in, a JSON object per line out.

A child's peak memory begins at that of the process it was forked from. So whoever has imported the reference cannot measure a
small program; this process, which has imported next to nothing, can.
"""
import json
import os
import subprocess
import sys
import time


class Launcher:
    """The other end, in the process that asks."""

    def __init__(self):
        call = [sys.executable, "-I", "-S", __file__]
        self.process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, words):
        """Seconds, CPU seconds, peak bytes and exit code of a command, and what it printed."""
        print(json.dumps([str(word) for word in words]), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def serve():
    unit = 1 if sys.platform == "darwin" else 1024
    for line in sys.stdin:
        start = time.perf_counter()
        process = subprocess.Popen(json.loads(line), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        cost = {
            "seconds": time.perf_counter() - start,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_bytes": usage.ru_maxrss * unit,
            "exit_code": os.waitstatus_to_exitcode(status),
            "printed": printed,
        }
        process.returncode = cost["exit_code"]
        print(json.dumps(cost), flush=True)


if __name__ == "__main__":
    serve()
