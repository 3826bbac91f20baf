#!/usr/bin/env python3
"""Backups of a server under load, restoring them, and what was erased since.

    backup_test.py --bin build/release/bin [--copies 50]
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from processes import Apply, Server, wait_for

OPTIONS = None
CANARY = "出生证明编号一九九四"


def tool(*arguments, check=True):
    """A tafel command that asks no server."""
    done = subprocess.run([os.path.join(OPTIONS.bin, "tafel"), *map(str, arguments)], capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"tafel {arguments}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done


def events_of(directory):
    """{board: [(version, hash)]} of a data directory, from its export."""
    found = {}
    for line in tool("export", directory, "--all").stdout.splitlines():
        entry = json.loads(line)
        if entry["line"] == "event":
            found.setdefault(entry["board"], []).append((entry["version"], entry["hash"]))
    return found


def files_with(directory, text):
    return [path for path in pathlib.Path(directory).rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


class Backups(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tafel-backup-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, *arguments, data=None):
        server = Server(OPTIONS.bin, *arguments) if data is None else ServerOn(OPTIONS.bin, data, *arguments)
        self.addCleanup(server.close)
        return server

    @staticmethod
    def data_of(server):
        return pathlib.Path(server.directory.name) / "data"

    def test_each_copy_under_load_is_a_prefix_of_the_log(self):
        server = self.start()
        writers = [Apply(server, f"acme/旅行/{i}", ({"id": str(n), "incr": {"n": 1}, "patch": {"国家": {"add": [f"国{n % 50}"]}}}
                                                 for n in range(200_000)), actor=f"w{i}", pipeline=20) for i in range(3)]
        copies = []
        for number in range(OPTIONS.copies):
            copy = self.folder / f"copy-{number}"
            tool("backup", self.data_of(server), copy)
            copies.append(copy)
            if number % 5 == 2:  # a backup that is killed leaves nothing, and no reader that keeps pages
                self.kill_backup(self.data_of(server), self.folder / "killed")
        self.assertTrue(any(writer.process.poll() is None for writer in writers), "the load ended before the last copy")
        for writer in writers:
            writer.process.terminate()
            writer.process.wait()
        whole = events_of(self.data_of(server))
        versions = []
        for copy in copies:
            finding = json.loads(tool("verify", "--deep", copy).stdout)
            self.assertEqual(finding["defects"], [], copy)
            self.assertEqual(finding["pages"], "sound")
            events = events_of(copy)
            for board, found in events.items():
                self.assertEqual(found, whole[board][:len(found)], f"{copy}: {board}")
            versions.append(sum(map(len, events.values())))
        self.assertEqual(versions, sorted(versions))
        self.assertGreater(versions[-1], versions[0])

    @staticmethod
    def kill_backup(data, destination):
        process = subprocess.Popen([os.path.join(OPTIONS.bin, "tafel"), "backup", str(data), str(destination)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if destination.exists():
            tool("verify", "--deep", destination)
            shutil.rmtree(destination)

    def test_a_restored_server_has_another_epoch_and_old_clients_must_read_anew(self):
        server = self.start()
        board = "acme/旅行/42"
        server.tafel("apply", board, self.file("a.json", {"set": {"预算": 1}}))
        copy = self.folder / "copy"
        tool("backup", self.data_of(server), copy)
        receipt = json.loads(server.tafel("apply", board, self.file("b.json", {"set": {"预算": 2}})))
        server.kill()
        restored = self.start(data=copy)
        epoch = restored.epoch
        self.assertNotEqual(epoch, receipt["epoch"])
        # A delta that was made from what the old server had shown is refused, though its version exists again.
        restored.tafel("apply", board, self.file("c.json", {"set": {"预算": 3}}))
        stale = {"epoch": receipt["epoch"], "base": 2, "set": {"预算": 9}}
        done = subprocess.run(restored.command("apply", board, self.file("d.json", stale)), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("wrong_epoch", done.stdout + done.stderr)
        self.assertEqual(json.loads(restored.tafel("get", board))["预算"], 3)
        restored.kill()
        again = self.start(data=copy)
        self.assertEqual(again.epoch, epoch, "only the first start takes a new one")

    def test_what_was_erased_since_an_older_backup_is_gone_before_the_first_read(self):
        server = self.start()
        board = "t/e"
        server.tafel("apply", board, self.file("a.json", {"set": {"profile.生日": CANARY, "name": "李雷"}}))
        server.tafel("fork", board, "t/f")
        copy = self.folder / "copy"
        tool("backup", self.data_of(server), copy)
        self.assertTrue(files_with(copy, CANARY))
        server.tafel("erase", board, "profile.生日", actor="officer")
        ledger = self.folder / "erasures.jsonl"
        ledger.write_text(server.tafel("erasures", "--export"), encoding="utf-8")
        newer = self.folder / "newer"
        tool("backup", self.data_of(server), newer)
        self.assertEqual((newer / "erasures.jsonl").read_text(encoding="utf-8"), ledger.read_text(encoding="utf-8"))
        self.assertFalse(files_with(newer, CANARY), "a copy holds nothing of what was erased")

        restored = self.start("--erasures", str(ledger), data=copy)
        for name in (board, "t/f"):
            self.assertNotIn(CANARY, restored.tafel("log", name))
            self.assertNotIn(CANARY, restored.tafel("get", name))
            self.assertNotIn(CANARY, restored.tafel("get", name, "--at", "1"))
            self.assertIn('"defects":[]', restored.tafel("verify", name))
        self.assertNotIn("pending", restored.tafel("erasures"))
        version = restored.full(board)["version"]
        restored.kill()
        restored = self.start("--erasures", str(ledger), "--compact", data=copy)
        self.assertEqual(restored.full(board)["version"], version, "nothing is erased twice")
        restored.close()
        self.assertFalse(files_with(copy, CANARY), "after a compaction no file holds it")
        self.assertEqual(json.loads(tool("verify", "--deep", copy).stdout)["defects"], [])

    def test_a_ledger_that_can_not_be_carried_out_keeps_the_server_from_starting(self):
        server = self.start()
        server.tafel("apply", "t/e", self.file("a.json", {"set": {"x": 1}}))
        server.kill()
        for text in ("no ledger\n", '{"board":"t/e","path":"$schema","version":1,"actor":"a","time":1}\n'):
            ledger = self.folder / "ledger"
            ledger.write_text(text, encoding="utf-8")
            done = subprocess.run([os.path.join(OPTIONS.bin, "tafeld"), "--data", str(self.data_of(server)), "--listen",
                                   "tcp://127.0.0.1:0", "--erasures", str(ledger)], capture_output=True, text=True, timeout=60, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn("ready", done.stdout)

    def test_compaction_that_is_killed_leaves_a_whole_store(self):
        server = self.start()
        for number in range(4):
            deltas = ({"set": {f"f{n % 7}": "x" * 20_000}} for n in range(100))
            Apply(server, f"b/{number}", deltas, actor="w", pipeline=10).receipts()
        data = self.data_of(server)
        refused = tool("compact", data, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("in use", refused.stderr)
        server.kill()
        before = events_of(data)
        for _ in range(OPTIONS.copies // 2):
            process = subprocess.Popen([os.path.join(OPTIONS.bin, "tafel"), "compact", str(data)], stdout=subprocess.DEVNULL)
            time.sleep(random.random() * 0.2)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if not (data / "store").is_dir():  # between two renames: whatever opens it next ends the work
                tool("compact", data)
            self.assertEqual(json.loads(tool("verify", "--deep", data).stdout)["defects"], [])
        tool("compact", data)
        self.assertEqual(events_of(data), before)
        self.assertEqual(sorted(path.name for path in data.iterdir()), ["lock", "store"])

    def test_boards_that_were_exported_under_load_come_back_the_same(self):
        server = self.start()
        writer = Apply(server, "acme/旅行/1", ({"incr": {"n": 1}, "set": {"最后": n}} for n in range(100_000)), actor="w", pipeline=20)
        wait_for(lambda: "acme" in server.tafel("boards"))
        file = self.folder / "boards.jsonl"
        file.write_text(tool("export", self.data_of(server)).stdout, encoding="utf-8")
        self.assertIsNone(writer.process.poll(), "the load ended before the export")
        writer.process.terminate()
        writer.process.wait()
        target = self.folder / "target"
        tool("import", target, file)
        imported, whole = events_of(target), events_of(self.data_of(server))
        self.assertEqual(imported["acme/旅行/1"], whole["acme/旅行/1"][:len(imported["acme/旅行/1"])])
        self.assertEqual(json.loads(tool("verify", "--deep", target).stdout)["defects"], [])
        self.assertIn('"defects":[]', self.start(data=target).tafel("verify"))

    def file(self, name, value):
        path = self.folder / name
        path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
        return str(path)


class ServerOn(Server):
    """A server on a data directory that is there already."""

    def __init__(self, bin_dir, data, *arguments):
        self.data = data
        self.epoch = None
        super().__init__(bin_dir, *arguments)

    def start(self):
        request, query, feed = self.listen
        self.process = subprocess.Popen(
            [os.path.join(self.bin_dir, "tafeld"), "--data", str(self.data), "--listen", request, "--query-listen", query,
             "--feed-listen", feed, "--log-level", "warn", *self.arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        if not words or words[0] != "ready":
            raise RuntimeError(f"tafeld did not get ready: {words} {self.process.stderr.read()}")
        named = dict(word.split("=", 1) for word in words[2:])
        self.listen = [words[1], named["query"], named["feed"]]
        self.epoch = named["epoch"]

    def kill(self):
        super().kill()
        self.process.stderr.close()

    def close(self):
        super().close()
        self.process.stderr.close()


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--copies", type=int, default=50)
    parser.add_argument("names", nargs="*")
    OPTIONS = parser.parse_args()
    suite = unittest.TestSuite(test for test in unittest.defaultTestLoader.loadTestsFromTestCase(Backups)
                               if not OPTIONS.names or any(name in test.id() for name in OPTIONS.names))
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed or not result.testsRun else 0)


if __name__ == "__main__":
    main()
