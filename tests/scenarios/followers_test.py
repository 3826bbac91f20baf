"""Followers under load: one that stops reading, one that joins in the middle, one whose server is killed. Each sees every version exactly
once, in order. Prints "N passed, M failed"."""
import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from processes import Apply, Server, wait_for


class Watch:
    """A `tafel watch` process that writes to a file."""

    def __init__(self, server, board, start=None):
        self.output = tempfile.NamedTemporaryFile("w+")
        arguments = ["watch", board] + (["--from", str(start)] if start is not None else [])
        self.process = subprocess.Popen(server.command(*arguments, actor="watcher"), stdout=self.output, stderr=subprocess.DEVNULL)

    def versions(self):
        with open(self.output.name) as lines:
            return [json.loads(line)["version"] for line in lines if line.endswith("\n")]

    def stop_reading(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=20)
        self.output.close()


def load(server, board, deltas):
    ops = [[{"op": "set", "path": "a", "value": i}] for i in range(deltas)]  # one change a version, so one line a version
    return Apply(server, board, [{"ops": each} for each in ops], "writer", pipeline=64)


def check(watch, first, last):
    wait_for(lambda: len(watch.versions()) >= last - first + 1, seconds=90)
    assert watch.versions() == list(range(first, last + 1))


def a_stopped_reader_misses_nothing(server, deltas, pause):
    stopped, awake = Watch(server, "f/stop", 0), Watch(server, "f/stop", 0)
    writer = load(server, "f/stop", deltas)
    wait_for(lambda: stopped.versions())
    stopped.stop_reading(pause)
    writer.receipts()
    check(awake, 1, deltas)
    check(stopped, 1, deltas)
    stopped.close()
    awake.close()


def a_late_joiner_sees_all_from_its_version(server, deltas):
    writer = load(server, "f/late", deltas)
    wait_for(lambda: json.loads(server.tafel("get", "f/late", "--full"))["version"] > 100)
    from_the_first, from_fifty = Watch(server, "f/late", 0), Watch(server, "f/late", 50)
    writer.receipts()
    check(from_the_first, 1, deltas)
    check(from_fifty, 51, deltas)
    from_the_first.close()
    from_fifty.close()


def a_follower_outlives_its_server(server, deltas):
    watch = Watch(server, "f/kill", 0)
    writer = load(server, "f/kill", deltas)
    for _ in range(3):
        seen = len(watch.versions())
        wait_for(lambda: len(watch.versions()) > seen or writer.process.poll() is not None)
        server.kill()
        server.start()
    writer.receipts()
    check(watch, 1, deltas)
    watch.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--deltas", type=int, default=20000)
    parser.add_argument("--pause", type=float, default=10)
    options = parser.parse_args()
    scenarios = {
        "a_stopped_reader_misses_nothing": lambda server: a_stopped_reader_misses_nothing(server, options.deltas, options.pause),
        "a_late_joiner_sees_all_from_its_version": lambda server: a_late_joiner_sees_all_from_its_version(server, options.deltas),
        "a_follower_outlives_its_server": lambda server: a_follower_outlives_its_server(server, options.deltas),
    }
    passed = failed = 0
    for name, run in scenarios.items():
        begin = time.monotonic()
        try:
            with Server(options.bin) as server:
                run(server)
            passed += 1
            print(f"ok   {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {name}\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
