"""A real tafeld and real tafel processes, for scenario tests. Standard library only."""
import json
import os
import signal
import subprocess
import tempfile
import time


class Server:
    """A tafeld on a directory of its own; kill() and start() again keep directory and ports."""

    def __init__(self, bin_dir, *arguments):
        self.bin_dir, self.arguments = bin_dir, list(arguments)
        self.directory = tempfile.TemporaryDirectory(prefix="tafel-scenario-")
        self.listen = ["tcp://127.0.0.1:0", "tcp://127.0.0.1:0", "tcp://127.0.0.1:0"]
        self.process = None
        self.start()

    def start(self):
        request, query, feed = self.listen
        self.process = subprocess.Popen(
            [os.path.join(self.bin_dir, "tafeld"), "--data", os.path.join(self.directory.name, "data"), "--listen", request,
             "--query-listen", query, "--feed-listen", feed, "--log-level", "warn", *self.arguments],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        words = self.process.stdout.readline().split()
        if not words or words[0] != "ready":
            raise RuntimeError(f"tafeld did not get ready: {words} (exit {self.process.poll()})")
        named = dict(word.split("=", 1) for word in words[2:])
        self.listen = [words[1], named["query"], named["feed"]]

    @property
    def endpoint(self):
        return self.listen[0]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=30)
        self.process.stdout.close()
        self.directory.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def command(self, *arguments, actor="tester"):
        return [os.path.join(self.bin_dir, "tafel"), "--server", self.endpoint, "--as", actor, "--timeout", "120", *arguments]

    def tafel(self, *arguments, **options):
        """Output of a tafel command that must succeed."""
        return subprocess.run(self.command(*arguments, **options), check=True, capture_output=True, text=True).stdout

    def full(self, board):
        return json.loads(self.tafel("get", board, "--full"))


class Apply:
    """One `tafel apply` process; its receipts go to a file, so that nobody has to read while it runs."""

    def __init__(self, server, board, deltas, actor, pipeline=1):
        self.input = tempfile.TemporaryFile("w+")
        self.input.writelines(json.dumps(delta, ensure_ascii=False) + "\n" for delta in deltas)
        self.input.seek(0)
        self.output = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(server.command("apply", board, "-", "--pipeline", str(pipeline), actor=actor),
                                        stdin=self.input, stdout=self.output, stderr=subprocess.PIPE, text=True)

    def receipts(self, timeout=300):
        _, errors = self.process.communicate(timeout=timeout)
        self.output.seek(0)
        receipts = [json.loads(line) for line in self.output]
        self.input.close()
        self.output.close()
        if self.process.returncode not in (0, 1):
            raise RuntimeError(f"tafel apply ended with {self.process.returncode}: {errors}")
        return receipts


def wait_for(condition, seconds=60):
    """Polls until the condition holds; a scenario that waits for ever has failed."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("a condition did not come true in time")
        time.sleep(0.02)
