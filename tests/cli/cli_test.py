#!/usr/bin/env python3
"""Runs the real `tafel` against a real `tafeld` on a temporary folder: every command, and what scripts rely on.

    cli_test.py --bin build/release/bin [--vectors DIR] [NAMES…]

Prints "N passed, M failed" at the end. A name chooses the tests that contain it.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
WAIT_S = 60              # for anything that must happen; only a failing test waits that long
DONE, REFUSED, USAGE, UNREACHABLE = 0, 1, 2, 3

# Members of a vector that an ordinary client of an ordinary server cannot bring about.
TEST_ONLY_OF_CASE = {"schema", "rights", "floor", "batches", "epoch"}
TEST_ONLY_OF_DELTA = {"actor", "now", "epoch"}


class Server:
    """One tafeld. `kill` and `start` again keep the data and the endpoint."""

    def __init__(self, bin_folder, data):
        self.program, self.data = bin_folder / "tafeld", data
        self.endpoint = "tcp://127.0.0.1:0"
        self.process = None

    def start(self):
        self.log = open(self.data.with_suffix(".log"), "ab")
        self.process = subprocess.Popen([self.program, "--data", self.data, "--listen", self.endpoint],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        for line in self.process.stdout:
            if line.startswith("ready"):
                self.endpoint = re.search(r"(tcp|ipc)://[^\s\",]+", line).group(0)
                return self
        raise AssertionError(f"tafeld ended with {self.process.wait()} before it was ready: "
                             f"{self.data.with_suffix('.log').read_text()[-2000:]}")

    def kill(self):
        self.end(signal.SIGKILL)

    def end(self, by=signal.SIGTERM):
        """Ends it and gives back its exit code."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(by)
        if self.process:
            self.process.wait(WAIT_S)
            self.process.stdout.close()
            self.log.close()
        return self.process.returncode


class Case(unittest.TestCase):
    """Tests share one server; each has boards of its own."""

    bin_folder = vectors = folder = server = None

    @classmethod
    def arguments(cls, *words, server=None, actor="tester"):
        endpoint = (server or cls.server).endpoint
        return [str(cls.bin_folder / "tafel"), *words, "--server", endpoint, "--as", actor]

    def tafel(self, *words, text="", **options):
        """Runs one command to its end."""
        return subprocess.run(self.arguments(*words, **options), input=text.encode(), capture_output=True,
                              timeout=WAIT_S, check=False)

    def apply(self, board, *deltas, words=(), code=DONE, **options):
        """Sends deltas (texts or maps) and gives back the receipts."""
        text = "".join((delta if isinstance(delta, str) else json.dumps(delta, ensure_ascii=False)) + "\n"
                       for delta in deltas)
        done = self.tafel("apply", board, *words, text=text, **options)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return json_lines(done.stdout)

    def get(self, *words, code=DONE, **options):
        done = self.tafel("get", *words, **options)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return json.loads(done.stdout) if code == DONE else done.stderr.decode()

    def popen(self, *words, stdin=subprocess.DEVNULL, **options):
        process = subprocess.Popen(self.arguments(*words, **options), stdin=stdin, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, bufsize=0)
        self.addCleanup(end_process, process)
        return process


def end_process(process):
    if process.poll() is None:
        process.kill()
    process.wait(WAIT_S)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            try:
                pipe.close()
            except BrokenPipeError:
                pass


def json_lines(output):
    return [json.loads(line) for line in output.decode().splitlines()]


def set_delta(path, value, **members):
    return {"ops": [{"op": "set", "path": path, "value": value}], **members}


def incr_delta(path="n", **members):
    return {"ops": [{"op": "incr", "path": path}], **members}


class Commands(Case):
    def test_apply_prints_a_receipt_a_line_in_order(self):
        receipts = self.apply("t/order", set_delta("budget.max", 15000), "", "  \t", set_delta("城市", "北京"), incr_delta())
        self.assertEqual([receipt["version"] for receipt in receipts], [1, 2, 3])
        for receipt in receipts:
            self.assertEqual(set(receipt), {"id", "board", "epoch", "version", "duplicate", "ops", "error"})
            self.assertEqual((receipt["board"], receipt["error"]), ("t/order", None))

    def test_apply_takes_every_input_form(self):
        receipts = self.apply("t/forms", set_delta("a.b", 1), {"set": {"c": "三"}, "patch": {"s": {"add": ["x"]}}},
                              [{"op": "add", "path": "/d", "value": True}],
                              {"json_patch": [{"op": "copy", "from": "/d", "path": "/e"}]})
        self.assertEqual([receipt["version"] for receipt in receipts], [1, 2, 3, 4])
        self.assertEqual(self.get("t/forms"), {"a": {"b": 1}, "c": "三", "d": True, "e": True, "s": ["x"]})

    def test_apply_makes_ids_and_keeps_given_ones(self):
        first, second = self.apply("t/ids", incr_delta(), incr_delta(id="给定-1"))
        self.assertTrue(first["id"])
        self.assertEqual(second["id"], "给定-1")
        again, = self.apply("t/ids", incr_delta(id="给定-1"))
        self.assertTrue(again["duplicate"])
        self.assertEqual({**again, "duplicate": False}, second)
        self.assertEqual(self.get("t/ids", "n"), 2)

    def test_apply_goes_on_after_a_line_that_is_no_delta(self):
        lines = [incr_delta(), '{"ops": [', '{"id": "mine", "opz": []}', '"text"', '{"ops": [{"op": "set", "path": "x", "value": 1e999}]}',
                 incr_delta()]
        receipts = self.apply("t/malformed", *lines, code=REFUSED)
        self.assertEqual([(receipt["error"] or {}).get("code") for receipt in receipts],
                         [None, "bad_value", "bad_value", "bad_value", "bad_value", None])
        self.assertEqual([receipt["version"] for receipt in receipts], [1, 1, 1, 1, 1, 2])
        self.assertEqual(receipts[2]["id"], "mine")
        self.assertIn("opz", receipts[2]["error"]["message"])
        self.assertEqual((receipts[4]["error"]["op"], receipts[4]["error"]["path"]), (0, "x"))
        self.assertTrue(all(receipt["board"] == "t/malformed" and receipt["epoch"] for receipt in receipts))

    def test_a_first_line_that_is_no_delta_tells_the_version_of_the_board(self):
        self.apply("t/first", incr_delta(), incr_delta())
        receipt, = self.apply("t/first", "nonsense", code=REFUSED)
        self.assertEqual(receipt["version"], 2)

    def test_an_op_that_cannot_be_read_says_what_is_wrong_with_it(self):
        for op, code, word in (({"op": "set", "path": "b"}, "bad_value", "value"), ({"op": "sett", "path": "b"}, "bad_value", "sett"),
                               ({"op": "set", "path": 5, "value": 1}, "bad_path", "path"),
                               ({"op": "patch", "path": "b", "add": "x"}, "bad_value", "list")):
            receipt, = self.apply("t/malformed-op", {"ops": [{"op": "set", "path": "a", "value": 1}, op]}, code=REFUSED)
            self.assertEqual((receipt["error"]["code"], receipt["error"]["op"]), (code, 1), receipt)
            self.assertIn(word, receipt["error"]["message"])

    def test_an_op_that_cannot_be_read_is_left_out_of_a_delta_that_is_not_atomic(self):
        receipt, = self.apply("t/not-atomic", {"atomic": False, "ops": [{"op": "sett", "path": "b"},
                                                                        {"op": "set", "path": "a", "value": 1}]})
        self.assertEqual([op["outcome"] for op in receipt["ops"]], ["rejected", "applied"])
        self.assertIn("sett", receipt["ops"][0]["error"]["message"])
        self.assertEqual(self.get("t/not-atomic"), {"a": 1})

    def test_the_board_of_a_delta_must_be_that_of_the_command_line(self):
        same, other = self.apply("t/mine", incr_delta(board="t/mine"), incr_delta(board="t/yours", id="d"), code=REFUSED)
        self.assertIsNone(same["error"])
        self.assertEqual((other["error"]["code"], other["id"], other["board"]), ("bad_value", "d", "t/mine"))
        self.assertIn("t/yours", other["error"]["message"])

    def test_a_line_above_the_limit_is_refused_and_the_run_goes_on(self):
        long = json.dumps(set_delta("a", "长" * 400_000), ensure_ascii=False)
        self.assertGreater(len(long.encode()), 1024 * 1024)
        for last in ("\n", ""):
            done = self.tafel("apply", "t/long", text=long + "\n" + json.dumps(incr_delta()) + "\n" + long + last)
            self.assertEqual(done.returncode, REFUSED)
            receipts = json_lines(done.stdout)
            self.assertEqual([(receipt["error"] or {}).get("code") for receipt in receipts], ["too_large", None, "too_large"])
        receipt, = self.apply("t/long", set_delta("a", ["x" * 1000] * 500), code=REFUSED)  # fits a line, not a message
        self.assertEqual((receipt["error"]["code"], receipt["version"]), ("too_large", 2))
        self.assertTrue(receipt["epoch"])

    def test_apply_reads_a_file_and_a_dash(self):
        file = self.folder / "deltas.jsonl"
        file.write_text(json.dumps(incr_delta()) + "\r\n" + json.dumps(incr_delta()))  # no end of the last line
        done = self.tafel("apply", "t/file", str(file))
        self.assertEqual((done.returncode, len(json_lines(done.stdout))), (DONE, 2))
        done = self.tafel("apply", "t/file", "-", text=json.dumps(incr_delta()))
        self.assertEqual((done.returncode, json_lines(done.stdout)[0]["version"]), (DONE, 3))
        done = self.tafel("apply", "t/file", str(self.folder / "there is none"))
        self.assertEqual((done.returncode, done.stdout), (REFUSED, b""))
        self.assertIn("there is none", done.stderr.decode())

    def test_without_a_pipeline_each_delta_has_seen_the_one_before(self):
        receipts = self.apply("t/sequential", *(set_delta("phase", index) for index in range(20)))
        self.assertTrue(all(receipt["ops"] == [{"outcome": "applied"}] for receipt in receipts), receipts)

    def test_receipts_stay_in_order_with_many_in_flight(self):
        deltas = [incr_delta(id=f"d{index}") if index % 7 else f"no delta {index}" for index in range(2000)]
        receipts = self.apply("t/pipeline", *deltas, words=("--pipeline", "64"), code=REFUSED)
        self.assertEqual([receipt["id"] for receipt in receipts], [f"d{index}" if index % 7 else "" for index in range(2000)])
        versions = [receipt["version"] for receipt in receipts if not receipt["error"]]
        self.assertEqual(versions, list(range(1, len(versions) + 1)))
        self.assertEqual(self.get("t/pipeline", "n"), len(versions))

    def test_a_receipt_comes_while_the_input_is_still_open(self):
        process = self.popen("apply", "t/stream", "--pipeline", "8", stdin=subprocess.PIPE)
        for version in (1, 2, 3):
            process.stdin.write(json.dumps(incr_delta()).encode() + b"\n")
            self.assertEqual(json.loads(process.stdout.readline())["version"], version)
        process.stdin.close()
        self.assertEqual(process.wait(WAIT_S), DONE)

    def test_get_shows_values_subtrees_and_the_past(self):
        self.apply("t/get", set_delta("trip", {"city": "上海", "nights": 3}), set_delta("trip.nights", 4))
        self.assertEqual(self.get("t/get"), {"trip": {"city": "上海", "nights": 4}})
        self.assertEqual(self.get("t/get", "trip.nights"), 4)
        self.assertEqual(self.get("t/get", "trip", "--at", "1"), {"city": "上海", "nights": 3})
        self.assertEqual(self.get("t/get", "--at", "0"), {})
        self.assertIn("上海", self.tafel("get", "t/get").stdout.decode())  # as it is, no \u escapes
        self.assertIn("hotel", self.get("t/get", "hotel", code=REFUSED))
        self.assertIn("9", self.get("t/get", "--at", "9", code=REFUSED))
        self.assertEqual(self.get("t/never-written"), {})
        self.assertIn("a", self.get("t/never-written", "a", code=REFUSED))

    def test_get_full_shows_the_shape_of_the_vectors(self):
        self.apply("t/full", set_delta("gpa", 3.8, confidence="verified"), set_delta("gpa", 2.0, confidence="guess", base=0))
        self.assertEqual(self.get("t/full", "--full"),
                         {"version": 2, "state": {"gpa": 3.8},
                          "fields": {"gpa": {"kind": "register", "value": 3.8, "confidence": "verified", "version": 1}},
                          "suggestions": {"gpa": [{"version": 2, "op": "set", "value": 2.0, "confidence": "guess"}]}})
        self.assertEqual(self.get("t/full", "--full", "--at", "1")["suggestions"], {})
        detail, = self.get("t/full", "--suggestions")["gpa"]
        self.assertEqual({name: detail[name] for name in ("id", "actor", "value")}, {"id": "2.0", "actor": "tester", "value": 2.0})
        self.assertIn("time", detail)

    def test_bytes_make_the_round_trip(self):
        self.apply("t/bytes", set_delta("raw", {"$bytes": "AAH/"}))
        self.assertEqual(self.get("t/bytes", "raw"), {"$bytes": "AAH/"})

    def test_log_shows_events(self):
        self.apply("t/log", *(set_delta("旅行.n", index, id=f"d{index}") for index in (1, 2, 3)), actor="规划")
        done = self.tafel("log", "t/log", "--from", "2", "--to", "3")
        events = json_lines(done.stdout)
        self.assertEqual([(event["version"], event["actor"], event["id"]) for event in events], [(2, "规划", "d2"), (3, "规划", "d3")])
        self.assertEqual(events[1]["previous"], events[0]["hash"])
        self.assertEqual(len(json_lines(self.tafel("log", "t/log").stdout)), 3)
        self.assertEqual(self.tafel("log", "t/none").stdout, b"")

    def test_a_long_log_comes_whole(self):
        self.apply("t/long-log", *(set_delta("a", f"{index}" + "文" * 300) for index in range(1500)), words=("--pipeline", "100"))
        events = json_lines(self.tafel("log", "t/long-log").stdout)
        self.assertEqual([event["version"] for event in events], list(range(1, 1501)))

    def test_boards_verify_and_stat(self):
        self.apply("t/listed/one", incr_delta())
        self.apply("t/listed/二", incr_delta(), incr_delta())
        boards = {board["board"]: board for board in json_lines(self.tafel("boards").stdout)}
        self.assertEqual((boards["t/listed/one"]["version"], boards["t/listed/二"]["version"]), (1, 2))
        done = self.tafel("verify", "t/listed/二")
        finding, = json_lines(done.stdout)
        self.assertEqual((done.returncode, finding["board"], finding["events"], finding["defects"]), (DONE, "t/listed/二", 2, []))
        done = self.tafel("verify")
        self.assertEqual(done.returncode, DONE)
        self.assertLessEqual(set(boards), {finding["board"] for finding in json_lines(done.stdout)})
        self.assertIsInstance(json.loads(self.tafel("stat").stdout), dict)

    def test_context_prints_what_a_model_gets(self):
        turns = [{"role": "user", "content": "我想去北京。"}, {"role": "assistant", "content": "几晚？"}]
        self.apply("t/context", set_delta("budget.max", 15000), *({"append": {"dialogue": turn}} for turn in turns))
        request = self.folder / "request.json"
        request.write_text(json.dumps({"system": "You plan trips.", "pinned": ["budget"]}))
        done = self.tafel("context", "t/context", "--request", str(request))
        self.assertEqual(done.returncode, DONE, done.stderr.decode())
        context = json.loads(done.stdout)
        self.assertEqual(context["base"], 3)
        self.assertIn("我想去北京。", [message["content"] for message in context["messages"]])
        text = self.tafel("context", "t/context", "--request", str(request), "--text").stdout.decode()
        for part in ("[system]", "You plan trips.", "15000", "[user]", "几晚？"):
            self.assertIn(part, text)

    def test_context_refuses_what_does_not_fit_and_what_is_no_request(self):
        for text, word in (('{"system": "' + "long " * 100 + '", "budget_tokens": 10}', "budget"),
                           ('{"sytem": "x"}', "sytem"), ("{", "byte")):
            done = self.tafel("context", "t/context", "--request", "-", text=text)
            self.assertEqual((done.returncode, done.stdout), (REFUSED, b""), done.stderr)
            self.assertIn(word, done.stderr.decode())
        self.assertEqual(self.tafel("context", "t/context", "--request", "/there/is/none").returncode, REFUSED)


class Watching(Case):
    def test_watch_from_a_version_sees_each_change_once_while_others_write(self):
        self.apply("w/load", *(incr_delta() for _ in range(5)))
        watch = self.popen("watch", "w/load", "--from", "2", "--count", "1003")
        writer = threading.Thread(target=self.apply, args=("w/load", *(incr_delta() for _ in range(1000))),
                                  kwargs={"words": ("--pipeline", "50")})
        writer.start()
        output, _ = watch.communicate(timeout=WAIT_S)
        writer.join()
        changes = json_lines(output)
        self.assertEqual(watch.returncode, DONE)
        self.assertEqual([change["version"] for change in changes], list(range(3, 1006)))
        self.assertEqual((changes[-1]["path"], changes[-1]["value"], changes[-1]["actor"]), ("n", 1005, "tester"))

    def test_watch_begins_now_when_no_version_is_given(self):
        self.apply("w/now", set_delta("a", 1))
        watch = self.popen("watch", "w/now", "--count", "1")
        self.assertIn(b"from version 1", watch.stderr.readline())
        self.apply("w/now", set_delta("a", "新"))
        change = json.loads(watch.communicate(timeout=WAIT_S)[0])
        self.assertEqual((change["version"], change["value"], watch.returncode), (2, "新", DONE))

    def test_watch_of_a_path_leaves_the_rest_out(self):
        watch = self.popen("watch", "w/path", "budget", "--from", "0", "--count", "2")
        self.apply("w/path", set_delta("budget.max", 1), set_delta("budgets", 2), set_delta("budget", {"min": 3}), set_delta("z", 1))
        changes = json_lines(watch.communicate(timeout=WAIT_S)[0])
        self.assertEqual([change["path"] for change in changes], ["budget.max", "budget.min"])

    def test_watch_shows_what_is_gone(self):
        self.apply("w/gone", set_delta("a", 1), {"unset": ["a"]})
        watch = self.popen("watch", "w/gone", "--from", "1", "--count", "1")
        change = json.loads(watch.communicate(timeout=WAIT_S)[0])
        self.assertTrue(change["gone"])

    def test_ctrl_c_ends_a_watch_well(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            watch = self.popen("watch", "w/stop")
            watch.stderr.readline()
            watch.send_signal(how)
            output, messages = watch.communicate(timeout=WAIT_S)
            self.assertEqual((watch.returncode, output, messages), (DONE, b"", b""))

    def test_a_watch_whose_reader_is_gone_ends_quietly(self):
        watch = self.popen("watch", "w/head", "--from", "0")
        watch.stderr.readline()
        self.apply("w/head", incr_delta())
        self.assertEqual(json.loads(watch.stdout.readline())["version"], 1)
        watch.stdout.close()
        self.assertEqual((watch.wait(WAIT_S), watch.stderr.read()), (DONE, b""))

    def test_a_watch_goes_on_after_the_server_came_back(self):
        server = Server(self.bin_folder, self.folder / "watch-restart").start()
        self.addCleanup(server.end)
        watch = self.popen("watch", "w/back", "--from", "0", "--count", "6", server=server)
        self.apply("w/back", *(incr_delta() for _ in range(3)), server=server)
        seen = [json.loads(watch.stdout.readline()) for _ in range(3)]
        server.kill()
        server.start()
        self.apply("w/back", *(incr_delta() for _ in range(3)), server=server)
        seen += json_lines(watch.communicate(timeout=WAIT_S)[0])
        self.assertEqual([change["version"] for change in seen], [1, 2, 3, 4, 5, 6])
        self.assertEqual(watch.returncode, DONE)


class CommandLine(Case):
    def test_wrong_usage_is_told_with_exit_code_2(self):
        for words in ([], ["sing"], ["get"], ["get", "a", "b", "c"], ["get", "a//b"], ["get", "a", "b..c"], ["get", "a", "--at", "-1"],
                      ["get", "a", "--at", "x"], ["get", "a", "--at"], ["get", "a", "--sideways"], ["get", "a", "--full", "--suggestions"],
                      ["get", "a", "--ful"], ["apply", "a", "--pipeline", "0"], ["apply", "a", "--pipeline", "100000"], ["apply"],
                      ["watch", "a", "--count", "0"], ["log", "a", "--from", "1.5"], ["context", "a"], ["boards", "a"],
                      ["stat", "--timeout", "0"], ["stat", "--timeout", "soon"], ["stat", "--as", "a"], ["get", "a", "--argument", "b"]):
            done = self.tafel(*words)
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""), words)
            self.assertTrue(done.stderr.startswith(b"tafel: "), words)
        for words in (["stat", "--as", ""], ["stat", "--as", "x" * 129], ["stat", "--server", "nowhere"]):
            done = subprocess.run([self.bin_folder / "tafel", *words], capture_output=True, timeout=WAIT_S, check=False)
            self.assertEqual((done.returncode, done.stdout), (USAGE, b""), words)

    def test_help_and_version(self):
        commands = ("apply", "get", "watch", "log", "boards", "verify", "context", "stat")
        for command in commands:
            for words in ([command, "--help"], ["--help", command]):
                done = subprocess.run([self.bin_folder / "tafel", *words], capture_output=True, timeout=WAIT_S, check=False)
                self.assertEqual((done.returncode, done.stderr), (DONE, b""))
                self.assertIn(f"usage: tafel {command}", done.stdout.decode())
        done = subprocess.run([self.bin_folder / "tafel", "--help"], capture_output=True, timeout=WAIT_S, check=False)
        self.assertEqual(done.returncode, DONE)
        for command in commands:
            self.assertIn(command, done.stdout.decode())
        done = subprocess.run([self.bin_folder / "tafel", "--version"], capture_output=True, timeout=WAIT_S, check=False)
        self.assertRegex(done.stdout.decode(), r"^tafel \d+\.\d+\.\d+\n$")

    def test_server_and_actor_come_from_the_environment(self):
        environment = {**os.environ, "TAFEL_SERVER": self.server.endpoint, "TAFEL_ACTOR": "环境"}
        run = lambda *words, **more: subprocess.run([self.bin_folder / "tafel", *words], capture_output=True, timeout=WAIT_S,
                                                    check=True, env={**environment, **more}, input=json.dumps(incr_delta()).encode())
        run("apply", "c/environment")
        run("--as", "given", "apply", "c/environment")      # before the command
        run("apply", "c/environment", "--as=given")         # after it
        run("apply", "c/environment", TAFEL_ACTOR="")       # the login name
        actors = [event["actor"] for event in json_lines(run("log", "c/environment").stdout)]
        self.assertEqual(actors[:3], ["环境", "given", "given"])
        self.assertNotIn(actors[3], ("", "环境"))

    def test_no_server_is_exit_code_3(self):
        for words in (["stat"], ["get", "a"], ["boards"], ["apply", "a"], ["watch", "a"], ["log", "a"], ["verify"]):
            done = subprocess.run([self.bin_folder / "tafel", *words, "--server", "tcp://127.0.0.1:1", "--timeout", "0.3", "--as", "x"],
                                  capture_output=True, timeout=WAIT_S, check=False, input=b"{}")
            self.assertEqual((done.returncode, done.stdout), (UNREACHABLE, b""), words)
            self.assertIn("tcp://127.0.0.1:1", done.stderr.decode())

    def test_a_server_that_falls_silent_is_exit_code_3_and_names_the_delta(self):
        server = Server(self.bin_folder, self.folder / "silent").start()
        self.addCleanup(server.end)
        for pipeline in ("1", "4"):
            process = self.popen("apply", "c/silent", "--timeout", "1", "--pipeline", pipeline, stdin=subprocess.PIPE, server=server)
            process.stdin.write(json.dumps(incr_delta()).encode() + b"\n")
            process.stdout.readline()
            server.process.send_signal(signal.SIGSTOP)
            process.stdin.write(json.dumps(incr_delta(id="lost-1")).encode() + b"\n")  # the input stays open
            messages = process.stderr.read().decode()
            self.assertEqual(process.wait(WAIT_S), UNREACHABLE)
            self.assertIn("lost-1", messages)
            server.process.send_signal(signal.SIGCONT)

    def test_a_closed_output_ends_quietly(self):
        self.apply("c/pipe", *(incr_delta() for _ in range(3)))
        for words in (["log", "c/pipe"], ["--help"]):
            read_end, write_end = os.pipe()
            os.close(read_end)
            done = subprocess.run(self.arguments(*words), stdout=write_end, stderr=subprocess.PIPE, timeout=WAIT_S, check=False)
            os.close(write_end)
            self.assertEqual((done.returncode, done.stderr), (DONE, b""), words)

    def test_a_full_output_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(self.arguments("stat"), stdout=full, stderr=subprocess.PIPE, timeout=WAIT_S, check=False)
        self.assertEqual(done.returncode, REFUSED)
        self.assertIn(b"standard output", done.stderr)


class Durability(Case):
    def test_verify_finds_damage_in_the_log(self):
        server = Server(self.bin_folder, self.folder / "damaged").start()
        self.addCleanup(server.end)
        mark = b"MARK-THAT-ONLY-THE-LOG-HOLDS-NOW"
        self.apply("d/damaged", set_delta("a", mark.decode()), set_delta("a", "later"), *(incr_delta() for _ in range(3)), server=server)
        self.apply("d/sound", incr_delta(), server=server)
        self.assertTrue(flip_everywhere(server.data, mark))  # under the running server, as a bad disk would
        done = self.tafel("verify", server=server)
        findings = {finding["board"]: finding["defects"] for finding in json_lines(done.stdout)}
        self.assertEqual((done.returncode, findings["d/sound"]), (REFUSED, []), done.stderr.decode())
        self.assertTrue(findings["d/damaged"])
        self.assertEqual(self.tafel("verify", "d/sound", server=server).returncode, DONE)

    # FIELD O15: a retry takes effect twice.
    def test_no_delta_is_lost_or_doubled_when_the_server_is_killed(self):
        count = 3000
        for pipeline in ("1", "32"):
            server = Server(self.bin_folder, self.folder / f"killed-{pipeline}").start()
            self.addCleanup(server.end)
            process = self.popen("apply", "d/killed", "--pipeline", pipeline, "--timeout", str(WAIT_S), stdin=subprocess.PIPE,
                                 server=server)
            feeder = threading.Thread(target=feed, args=(process.stdin, count))
            feeder.start()
            receipts = []
            for line in process.stdout:
                receipts.append(json.loads(line))
                if len(receipts) in (count // 4, count // 2, count * 3 // 4):
                    server.kill()
                    server.start()
            feeder.join()
            self.assertEqual(process.wait(WAIT_S), DONE, process.stderr.read())
            self.assertEqual([receipt["version"] for receipt in receipts], list(range(1, count + 1)))
            self.assertEqual([receipt["id"] for receipt in receipts], [f"d{index}" for index in range(count)])
            self.assertEqual(self.get("d/killed", "n", server=server), count)
            self.assertEqual(self.tafel("verify", "d/killed", server=server).returncode, DONE)

    def test_a_delta_sent_again_counts_once_also_after_a_crash_and_on_another_connection(self):
        server = Server(self.bin_folder, self.folder / "again").start()
        self.addCleanup(server.end)
        first, = self.apply("d/again", incr_delta(id="D"), server=server)
        for _ in range(3):
            again, = self.apply("d/again", incr_delta(id="D"), server=server)
            self.assertEqual(again, {**first, "duplicate": True})
            server.kill()
            server.start()
        other, = self.apply("d/again", set_delta("x", 1, id="D"), code=REFUSED, server=server)
        self.assertEqual(other["error"]["code"], "id_reused")
        self.assertEqual(self.get("d/again", "n", server=server), 1)


def flip_everywhere(folder, mark):
    """Changes the case of `mark` in place in all files below `folder`; returns how often it was there."""
    count = 0
    for path in (path for path in folder.rglob("*") if path.is_file()):
        with open(path, "r+b") as file:
            content = file.read()
            for match in re.finditer(re.escape(mark), content):
                file.seek(match.start())
                file.write(mark.swapcase())
                count += 1
    return count


def feed(pipe, count):
    for index in range(count):
        pipe.write(json.dumps(incr_delta(id=f"d{index}")).encode() + b"\n")
    pipe.close()


class Vectors(Case):
    """The worked cases of the merge semantics, through `apply` and `get --full`."""

    skipped = 0

    def test_every_case_of_the_given_vectors(self):
        self.assertEqual(self.run_file("merge.json"), (84, 0))

    def test_our_own_vectors(self):
        run, skipped = self.run_file("own.json")
        self.assertGreater(run, skipped)

    def run_file(self, name):
        cases = json.loads((self.vectors / name).read_text(encoding="utf-8"))
        chosen = [case for case in cases if not is_test_only(case)]
        Vectors.skipped += len(cases) - len(chosen)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:  # each waits for a process most of the time
            found = list(pool.map(self.run_case, range(len(chosen)), chosen, [name] * len(chosen)))
        wrong = [f"{case['name']}: {line}" for case, lines in zip(chosen, found) for line in lines]
        self.assertFalse(wrong, "\n".join(wrong))
        return len(chosen), len(cases) - len(chosen)

    def run_case(self, index, case, name):
        board = f"v/{name}/{index}"
        text = "".join(json.dumps(delta, ensure_ascii=False) + "\n" for delta in case["deltas"])
        done = self.tafel("apply", board, text=text, actor="a")
        receipts = json_lines(done.stdout)
        has_error = any(receipt.get("error") for receipt in receipts)
        if done.returncode != (REFUSED if has_error else DONE):
            return [f"exit code {done.returncode}: {done.stderr.decode()}"]
        full = json.loads(self.tafel("get", board, "--full").stdout)
        lines = differences(case["receipts"], receipts, "receipts", subset=True)
        lines += [f"receipts[{at}]: not expected: {found['error']}" for at, (told, found) in enumerate(zip(case["receipts"], receipts))
                  if found["error"] and "error" not in told]
        for member in ("version", "state"):
            lines += differences(case[member], full[member], member)
        lines += differences(by_value(case["fields"]), by_value(full["fields"]), "fields")
        return lines + self.differences_of_suggestions(case.get("suggestions", {}), full["suggestions"], board)

    def differences_of_suggestions(self, expected, found, board):
        """`--full` has the four members exactly; what a case names beyond them is in `--suggestions`."""
        four = {path: [{name: one[name] for name in ("version", "op", "value", "confidence")} for one in held]
                for path, held in expected.items()}
        lines = differences(four, found, "suggestions")
        if four != expected:
            lines += differences(expected, self.get(board, "--suggestions"), "suggestions", subset=True)
        return lines


TURNS = [  # of an applicant's dialogue: the delta of each turn, and the completeness after it
    ({"append": {"dialogue": {"role": "user", "content": "你好，我想出国读研"}}}, 0, ["目标专业", "意向国家", "GPA 绩点", "预算范围"]),
    ({"set": {"profile.major": "计算机科学"}}, 0.3, ["意向国家", "GPA 绩点", "预算范围"]),
    ({"patch": {"profile.countries": {"add": ["美国", "新加坡"]}}}, 0.6, ["GPA 绩点", "预算范围"]),
    ({"set": {"profile.gpa": 3.8}}, 0.8, ["预算范围"]),
    ({"set": {"profile.major": "  "}}, 0.8, ["预算范围"]),                       # a blank changes nothing
    ({"unset": ["profile.gpa"]}, 0.6, ["GPA 绩点", "预算范围"]),
    ({"patch": {"profile.countries": {"remove": ["美国", "新加坡"]}}}, 0.3, ["意向国家", "GPA 绩点", "预算范围"]),
    ({"set": {"profile.budget": "30-40 万元"}}, 0.5, ["意向国家", "GPA 绩点"]),
    ({"set": {"profile": {"gpa": 3.9, "countries": ["英国"]}}}, 1, []),
    ({"unset": ["profile"]}, 0, ["目标专业", "意向国家", "GPA 绩点", "预算范围"]),
]


class SchemaCommand(Case):
    def schema(self, *words, text="", code=DONE, **options):
        done = self.tafel("schema", *words, text=text if isinstance(text, str) else json.dumps(text), **options)
        self.assertEqual(done.returncode, code, done.stdout.decode() + done.stderr.decode())
        return json.loads(done.stdout) if done.stdout else done.stderr.decode()

    def template(self, name):
        return self.tafel("schema", "template", name).stdout.decode()

    def test_set_get_and_what_it_refuses(self):
        document = {"strict": True, "fields": {"gpa": {"type": "number", "range": [0, 4]}}}
        self.assertEqual(self.schema("set", "sc/a", "-", text=document)["version"], 1)
        answer = self.schema("get", "sc/a")
        self.assertEqual(answer["documents"], [{"board": "sc/a", "path": "$schema.board", "version": 1, "value": document}])
        self.assertEqual(answer["schema"], {"strict": True, "fields": [{"path": "gpa", "type": "number", "range": [0, 4]}]})
        self.assertIsNone(answer["completeness"])
        error = self.apply("sc/a", set_delta("gpa", 5), code=REFUSED)[0]["error"]
        self.assertEqual((error["code"], error["path"], error["expected"], error["found"]),
                         ("schema_violation", "gpa", {"range": [0, 4]}, 5))
        self.assertIn("did you mean gpa?", self.apply("sc/a", set_delta("gap", 3), code=REFUSED)[0]["error"]["message"])
        self.assertEqual(self.get("sc/a"), {})
        self.assertEqual(self.get("sc/a", "$schema.board"), document)

    def test_offenders_refuse_a_change_and_check_tries_it(self):
        self.apply("sc/b", set_delta("gpa", "好"))
        document = {"fields": {"gpa": {"type": "number"}}}
        for words in (["--check"], []):
            receipt = self.schema("set", "sc/b", "-", *words, text=document, code=REFUSED)
            self.assertEqual(receipt["error"]["code"], "schema_violation")
            self.assertEqual([offender["path"] for offender in receipt["error"]["found"]], ["gpa"])
        self.assertEqual(self.schema("set", "sc/b", "-", "--check", text={"fields": {"gpa": {"type": "text"}}})["version"], 2)
        self.assertEqual(self.schema("get", "sc/b")["documents"], [])

    def test_below_speaks_of_boards_below(self):
        self.schema("set", "scb", "-", "--below", text={"fields": {"n": {"kind": "counter"}}})
        self.assertEqual(self.apply("scb/x", set_delta("n", 1), code=REFUSED)[0]["error"]["code"], "kind_mismatch")
        self.assertEqual(self.schema("get", "scb/x")["documents"][0]["board"], "scb")
        self.schema("set", "scb", "-", "--below", text="null")
        self.apply("scb/x", set_delta("n", 1))

    def test_check_agrees_with_the_json_schema_of_the_docs(self):
        import jsonschema
        page = json.loads((HERE.parent.parent / "docs/schema.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(page)
        validator = jsonschema.Draft202012Validator(page)
        cases = json.loads((self.vectors / "schemas.json").read_text())
        for case in cases["good"]:
            with self.subTest(case["name"]):
                self.assertEqual(self.schema("check", "-", text=case["document"])["errors"], [])
                self.assertEqual([error.message for error in validator.iter_errors(case["document"])], [])
        for case in cases["bad"]:
            with self.subTest(case["name"]):
                errors = self.schema("check", "-", text=case["document"], code=REFUSED)["errors"]
                self.assertTrue(any(case["tells"] in error for error in errors), errors)
                self.assertEqual(validator.is_valid(case["document"]), case.get("only_tool", False))

    def test_templates_are_right_and_without_warnings(self):
        names = [line.split()[0] for line in self.tafel("schema", "template").stdout.decode().splitlines()]
        self.assertEqual(names, ["dialogue", "applicant"])
        for name in names:
            self.assertEqual(self.schema("check", "-", text=self.template(name)), {"errors": [], "warnings": []})

    def test_ten_turns_of_an_applicant(self):
        self.schema("set", "sc/applicant", "-", text=self.template("applicant"))
        for number, (delta, score, missing) in enumerate(TURNS, 1):
            with self.subTest(turn=number):
                receipt = self.apply("sc/applicant", delta)[0]
                shown = self.get("sc/applicant", "--completeness")
                self.assertEqual((shown["score"], [field["label"] for field in shown["missing"]]), (score, missing))
                if "completeness" in receipt:
                    self.assertEqual(receipt["completeness"], shown)
        self.assertEqual(self.schema("get", "sc/applicant")["completeness"]["score"], 0)

    def test_what_a_model_answers_becomes_a_delta(self):
        self.schema("set", "sc/model", "-", text=self.template("applicant"))
        tool = self.schema("tool", "sc/model")
        self.assertEqual(list(tool["parameters"]["properties"]["fields"]["properties"]),
                         ["profile.budget", "profile.countries", "profile.gpa", "profile.major"])
        self.assertEqual(self.schema("tool", "--file", "-", text=self.template("applicant")), tool)
        answer = {"fields": {"profile.major": {"intent": "OVERWRITE", "value": "金融", "confidence": "stated"},
                             "profile.countries": {"intent": "APPEND", "value": ["英国"], "confidence": "inferred"},
                             "profile.gpa": {"intent": "IGNORE", "value": 3.5, "confidence": "guess"},
                             "profile.budget": None}, "unset": None}
        said = "好的：\n```json\n" + json.dumps(answer, ensure_ascii=False) + "\n```"
        done = self.tafel("apply", "sc/model", "--extraction", "--base", "1", "--ref", "turn-2", text=said)
        self.assertEqual(done.returncode, DONE, done.stderr.decode())
        self.assertEqual(self.get("sc/model"), {"profile": {"major": "金融", "countries": ["英国"]}})
        event = json_lines(self.tafel("log", "sc/model", "--from", "2").stdout)[0]
        self.assertEqual((event["base"], event["source"]), (1, {"kind": "turn", "ref": "turn-2", "evidence": ["IGNORE profile.gpa: 3.5"]}))

        answer["fields"]["profile.gpa"] = {"intent": "OVERWRITE", "value": 38, "confidence": "stated"}
        done = self.tafel("apply", "sc/model", "--extraction", text=json.dumps(answer))
        self.assertEqual(done.returncode, REFUSED)
        self.assertIn('profile.gpa: "value" must be a number from 0 to 5 (range), found 38', done.stderr.decode())
        self.assertEqual(json_lines(done.stdout)[0]["error"]["code"], "bad_value")
        self.apply("sc/model", set_delta("profile.major", "金融", confidence="confirmed"))
        facts = self.tafel("schema", "tool", "sc/model", "--facts").stdout.decode()
        self.assertIn('"path":"profile.major","value":"金融","confidence":"confirmed"', facts)
        self.assertNotIn("profile.countries", facts)

    def test_pinned_fields_are_always_in_the_context(self):
        self.schema("set", "sc/pinned", "-", text={"fields": {"city": {"pinned": True, "type": "string"}}})
        self.apply("sc/pinned", set_delta("city", "上海", confidence="guess"), set_delta("other", "x", confidence="guess"))
        text = self.tafel("context", "sc/pinned", "--request", "-", "--text", text="{}").stdout.decode()
        self.assertIn("上海", text)
        self.assertNotIn('"other"', text)

    def test_wrong_usage(self):
        for words in (["schema"], ["schema", "dance"], ["schema", "set", "b"], ["schema", "tool"], ["schema", "template", "x"],
                      ["get", "b", "x", "--completeness"], ["get", "b", "--completeness", "--full"]):
            self.assertEqual(self.tafel(*words).returncode, USAGE, words)
        self.assertEqual(self.tafel("get", "sc/none", "--completeness").returncode, REFUSED)


def is_test_only(case):
    of_deltas = {name for delta in case["deltas"] if isinstance(delta, dict) for name in delta}
    return bool(TEST_ONLY_OF_CASE & set(case)) or bool(TEST_ONLY_OF_DELTA & of_deltas)


def differences(expected, found, where, subset=False):
    """What is wrong, as lines. `subset`: members that `expected` does not name may be anything. Numbers are equal by value."""
    if isinstance(expected, dict) and isinstance(found, dict):
        missing = [f"{where}.{name}: expected {expected[name]!r}, found nothing" for name in expected
                   if name not in found and expected[name] is not None and expected[name] is not False]
        extra = [] if subset else [f"{where}.{name}: not expected" for name in found if name not in expected]
        return missing + extra + [line for name in expected if name in found
                                  for line in differences(expected[name], found[name], f"{where}.{name}", subset)]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [line for at, pair in enumerate(zip(expected, found)) for line in differences(*pair, f"{where}[{at}]", subset)]
    is_equal = expected == found and isinstance(expected, bool) == isinstance(found, bool)
    return [] if is_equal else [f"{where}: expected {json.dumps(expected, ensure_ascii=False)}, found {json.dumps(found, ensure_ascii=False)}"]


def by_value(fields):
    """The confidences of a set have its elements as JSON texts for keys: brings both sides to one spelling."""
    return {path: {**told, "confidence": {json.dumps(json.loads(key), sort_keys=True): rank
                                          for key, rank in told["confidence"].items()}}
            if told["kind"] == "set" else told for path, told in fields.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, metavar="DIR", help="where tafeld and tafel are")
    parser.add_argument("--vectors", type=pathlib.Path, default=HERE.parent / "vectors")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in options.names] or None
    suite = loader.loadTestsFromModule(sys.modules[__name__])
    Case.bin_folder, Case.vectors = options.bin.resolve(), options.vectors
    with tempfile.TemporaryDirectory(prefix="tafel-cli-") as folder:
        Case.folder = pathlib.Path(folder)
        Case.server = Server(Case.bin_folder, Case.folder / "shared").start()
        try:
            result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
        finally:
            server_code = Case.server.end()
    failed = len(result.failures) + len(result.errors)
    if server_code != 0:  # also what a sanitizer found
        print(f"tafeld ended with {server_code}")
        failed += 1
    print(f"{Vectors.skipped} cases of the vectors need what only a test can set, and were left out")
    print(f"{max(result.testsRun - failed, 0)} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
