"""Runs commands for another process and measures them. Reads one JSON list of arguments per line, writes one JSON object per line.

The peak memory of a child process starts at that of the process it was forked from, so a process that has imported dm-clrs
cannot measure a small program. This one imports almost nothing.
"""
import json
import os
import subprocess
import sys
import time


class Launcher:
    """The client, in the process that needs measurements."""

    def __init__(self):
        call = [sys.executable, "-I", "-S", __file__]
        self.process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, arguments):
        """Seconds, CPU seconds, peak bytes, exit code and output of a command."""
        print(json.dumps([str(argument) for argument in arguments]), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def serve():
    unit = 1 if sys.platform == "darwin" else 1024
    for line in sys.stdin:
        start = time.perf_counter()
        process = subprocess.Popen(json.loads(line), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        cost = {
            "seconds": time.perf_counter() - start,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_bytes": usage.ru_maxrss * unit,
            "exit_code": os.waitstatus_to_exitcode(status),
            "output": output,
        }
        process.returncode = cost["exit_code"]
        print(json.dumps(cost), flush=True)


if __name__ == "__main__":
    serve()
