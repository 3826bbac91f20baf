#!/usr/bin/python3
"""A client of tafeld written from docs/protocol.md alone: no code is shared with the project. It proves that the page is complete.

Usage: protocol_page_test.py PATH_OF_TAFELD PATH_OF_PROTOCOL_MD [unittest options]
Needs python3-zmq and python3-msgpack. Numbers in brackets are sections of the page.
"""

import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import msgpack
import zmq

TAFELD = ""
PAGE = ""
CONFIDENCES = ["guess", "inferred", "stated", "confirmed", "verified"]


# --- [4] values ---

def pack(value):
    """The shortest formats; members in the order of the dict."""
    return msgpack.packb(value, use_bin_type=True)


def unpack(data):
    return msgpack.unpackb(data, raw=False, strict_map_key=True)


def in_canonical_form(value):
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and value == int(value) and -2 ** 63 <= value < 2 ** 64:
        return int(value)
    if isinstance(value, (list, tuple)):
        return [in_canonical_form(item) for item in value]
    if isinstance(value, dict):
        return {key: in_canonical_form(value[key]) for key in sorted(value, key=lambda key: key.encode())}
    return value


def canonical(value):
    return pack(in_canonical_form(value))


# --- [10] cells, [11] digest ---

def cell_in_canonical_form(cell):
    tag = cell[0]
    if tag == 0:
        return [0, [[in_canonical_form(value), dot] for value, dot in cell[1]]]
    if tag == 1:
        return cell
    place = {2: 2, 3: 1, 4: 1, 5: 2}[tag]
    return cell[:place] + [in_canonical_form(cell[place])] + cell[place + 1:]


def part_of_digest(key, cell):
    hashed = hashlib.sha256(pack(key) + pack(cell_in_canonical_form(cell))).digest()
    return int.from_bytes(hashed[:16], "big")


def element_id(value):
    encoded = canonical(value)
    return encoded if len(encoded) <= 32 else b"\xc1" + hashlib.sha256(encoded).digest()


def segments_of(path):
    segments, current, i = [], "", 0
    while i < len(path):
        if path[i] == "\\":
            current += path[i + 1]
            i += 2
        elif path[i] == ".":
            segments.append(current)
            current = ""
            i += 1
        else:
            current += path[i]
            i += 1
    return segments + [current]


class Copy:
    """A copy of a board [13]: cells by key, the digest kept along."""

    def __init__(self):
        self.cells = {}
        self.version = 0
        self.digest = 0

    def put(self, key, cell):
        if key[1] == 5:  # all cells of the board
            for name in list(self.cells):
                self.put(list(name), None)
            return
        if key[1] == 4:  # all cells of the field
            for name in [name for name in self.cells if name[0] == key[0]]:
                self.put(list(name), None)
            return
        name = (key[0], key[1], key[2])
        if name in self.cells:
            self.digest -= part_of_digest(key, self.cells.pop(name))
        if cell is not None:
            self.cells[name] = cell
            self.digest += part_of_digest(key, cell)
        self.digest %= 2 ** 128

    def digest_bytes(self):
        return self.digest.to_bytes(16, "big")

    def recomputed(self):
        total = sum(part_of_digest(list(name), cell) for name, cell in self.cells.items())
        return (total % 2 ** 128).to_bytes(16, "big")

    def apply(self, event):
        version, _, _, _, _, _, changes, digest, _ = event
        assert version == self.version + 1, (version, self.version)
        for key, cell in changes:
            self.put(key, cell)
        self.version = version
        return digest

    def fields(self):
        """What a reader sees: {path: value}, by the rules under "To show a field"."""
        shown, elements, entries = {}, {}, {}
        for (path, part, ident), cell in self.cells.items():
            if part == 0:
                if cell[0] == 0:
                    shown[path] = max(cell[1], key=lambda s: (s[1][2], s[1][0], s[1][1]))[0]
                else:
                    shown[path] = cell[1] if cell[0] == 1 else cell[2]
            elif part == 1:
                assert ident == element_id(cell[1])
                elements.setdefault(path, []).append((cell[2], cell[1]))
            elif part == 2:
                entries.setdefault(path, []).append((ident, cell[1]))
        for path, found in elements.items():
            shown[path] = [value for _, value in sorted(found, key=lambda item: item[0])]
        for path, found in entries.items():
            shown[path] = [value for _, value in sorted(found, key=lambda item: item[0])]
        return shown

    def state(self):
        root = {}
        for path, value in self.fields().items():
            node = root
            *parents, leaf = segments_of(path)
            for segment in parents:
                node = node.setdefault(segment, {})
            node[leaf] = value
        return root


# --- [2] sockets, [3] messages, [5] session ---

class Refused(Exception):
    def __init__(self, error):
        super().__init__(error["code"] + ": " + error["message"])
        self.error = error
        self.code = error["code"]


class Connection:
    def __init__(self, context, endpoint, actor, greets=True):
        self.socket = context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 200)
        self.socket.setsockopt(zmq.IMMEDIATE, 1)
        self.socket.connect(endpoint)
        self.next_id = 0
        self.pushed = []
        self.welcome = None
        if greets:
            self.welcome = self.ask("hello", {"protocol": 1, "actor": actor, "client": "page 1.0"}, "welcome")

    def close(self):
        self.socket.close()

    def send(self, kind, body):
        self.next_id += 1
        self.socket.send(pack([kind, self.next_id, body]))
        return self.next_id

    def receive(self, timeout_ms=10000):
        if not self.socket.poll(timeout_ms):
            raise TimeoutError("nothing came for %d ms" % timeout_ms)
        kind, ident, body = unpack(self.socket.recv())
        return kind, ident, body

    def answer_to(self, ident, kind):
        while True:
            got, its_id, body = self.receive()
            if its_id == 0:
                self.pushed.append((got, body))
            elif its_id == ident and got == "error":
                raise Refused(body)
            elif its_id == ident:
                assert got == kind, (got, kind)
                return body

    def ask(self, kind, body, answer):
        return self.answer_to(self.send(kind, body), answer)

    def submit(self, deltas):
        ident = self.send("submit", deltas)
        receipts = []
        while len(receipts) < len(deltas):
            receipts += self.answer_to(ident, "receipts")
        return receipts

    def query(self, what, **members):
        return self.ask("query", dict(what=what, **members), "answer")

    def next_pushed(self):
        """The next message that answers nothing [12]."""
        while not self.pushed:
            kind, ident, body = self.receive()
            if ident == 0:
                self.pushed.append((kind, body))
        return self.pushed.pop(0)


class Server:
    def __init__(self, directory, *options):
        self.process = subprocess.Popen(
            [TAFELD, "--data", directory, "--listen", "tcp://127.0.0.1:0", "--open-feed", "tcp://127.0.0.1:0",
             "--heartbeat-ms", "200", "--log-level", "warn", *options], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("ready"), line
        self.endpoint = re.search(r"tcp://\S+", line).group()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(20) == 0
        self.process.stdout.close()


class PageTest(unittest.TestCase):
    boards = 0

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.server = Server(os.path.join(cls.directory.name, "data"))
        cls.context = zmq.Context()

    @classmethod
    def tearDownClass(cls):
        cls.context.destroy(linger=0)
        cls.server.stop()
        cls.directory.cleanup()

    def setUp(self):
        PageTest.boards += 1
        self.board = "page/board/%d" % PageTest.boards
        self.opened = []
        self.requests = self.connect(self.server.endpoint)
        self.queries = self.connect(self.requests.welcome["query_endpoint"])

    def tearDown(self):
        for connection in self.opened:
            connection.close()

    def connect(self, endpoint, actor="planner", greets=True):
        self.opened.append(Connection(self.context, endpoint, actor, greets))
        return self.opened[-1]

    def feed(self, actor="planner"):
        return self.connect(self.requests.welcome["feed_endpoint"], actor)

    def delta(self, ops, **members):
        return dict(members, board=self.board, ops=ops)

    def write(self, *ops, **members):
        receipt = self.requests.submit([self.delta(list(ops), **members)])[0]
        self.assertIsNone(receipt["error"], receipt)
        return receipt

    def refused(self, ask, *arguments, **members):
        with self.assertRaises(Refused) as caught:
            ask(*arguments, **members)
        return caught.exception.error


class SessionTest(PageTest):
    def test_welcome_has_every_member_of_the_page(self):
        welcome = self.requests.welcome
        self.assertEqual(set(welcome), {"protocol", "server", "epoch", "query_endpoint", "feed_endpoint", "open_feed_endpoint",
                                        "features", "request_bytes_max", "heartbeat_ms"})
        self.assertEqual(welcome["protocol"], 1)
        self.assertEqual(welcome["request_bytes_max"], 65536)
        self.assertEqual(welcome["heartbeat_ms"], 200)
        self.assertEqual(self.queries.welcome["epoch"], welcome["epoch"])

    def test_hello_is_refused_as_the_page_says(self):
        stranger = self.connect(self.server.endpoint, greets=False)
        hello = {"protocol": 1, "actor": "a"}
        for change, code in [({"protocol": 2}, "bad_request"), ({"actor": ""}, "bad_value"), ({"actor": "system"}, "forbidden")]:
            self.assertEqual(self.refused(stranger.ask, "hello", dict(hello, **change), "welcome")["code"], code, change)
        stranger.ask("hello", hello, "welcome")
        stranger.ask("hello", hello, "welcome")
        self.assertEqual(self.refused(stranger.ask, "hello", dict(hello, actor="b"), "welcome")["code"], "forbidden")

    def test_without_hello_there_is_no_session(self):
        for endpoint in [self.server.endpoint, self.requests.welcome["query_endpoint"], self.requests.welcome["feed_endpoint"]]:
            stranger = self.connect(endpoint, greets=False)
            self.assertEqual(self.refused(stranger.ask, "ping", None, "pong")["code"], "no_session")

    def test_ping_is_answered_everywhere(self):
        for connection in [self.requests, self.queries, self.feed()]:
            self.assertIsNone(connection.ask("ping", None, "pong"))

    def test_what_cannot_be_decoded_and_wrong_types_are_bad_requests(self):
        self.requests.socket.send(b"\xc1")
        self.assertEqual(self.requests.receive()[2]["code"], "bad_request")
        self.assertEqual(self.refused(self.requests.ask, "query", {"what": "stat"}, "answer")["code"], "bad_request")
        self.assertEqual(self.refused(self.queries.ask, "submit", [], "receipts")["code"], "bad_request")
        self.assertEqual(self.refused(self.queries.query, "gett", board=self.board)["code"], "bad_request")
        self.assertEqual(self.refused(self.queries.query, "get", board=self.board, extra=1)["code"], "bad_request")


class SubmitTest(PageTest):
    def test_receipts_come_in_order_with_every_member(self):
        receipts = self.requests.submit([self.delta([{"op": "set", "path": "budget.max", "value": 15000}], id="d-1"),
                                         self.delta([{"op": "set", "path": "budget.max", "value": 15000}], id="d-2"),
                                         self.delta([{"op": "set", "path": "no..path", "value": 1}], id="d-3")])
        for receipt in receipts:
            self.assertEqual(set(receipt), {"id", "board", "epoch", "version", "duplicate", "ops", "error"})
            self.assertEqual(receipt["epoch"], self.requests.welcome["epoch"])
            self.assertEqual(receipt["board"], self.board)
        self.assertEqual([receipt["id"] for receipt in receipts], ["d-1", "d-2", "d-3"])
        self.assertEqual([receipt["version"] for receipt in receipts], [1, 1, 1])
        self.assertEqual(receipts[0]["ops"], [{"outcome": "applied"}])
        self.assertEqual(receipts[1]["ops"][0], {"outcome": "unchanged", "reason": "echo"})
        self.assertEqual(receipts[2]["ops"], [])
        error = receipts[2]["error"]
        self.assertEqual((error["code"], error["op"], error["path"], error["retryable"]), ("bad_path", 0, "no..path", False))

    def test_a_repeat_gets_the_first_receipt(self):
        delta = self.delta([{"op": "incr", "path": "visits", "by": 2}], id="once")
        first = self.requests.submit([delta])[0]
        again = self.connect(self.server.endpoint).submit([delta])[0]   # as after a reconnect
        self.assertEqual(again, dict(first, duplicate=True))
        self.assertEqual(self.queries.query("get", board=self.board, path="visits")["value"], 2)
        other = self.requests.submit([self.delta([{"op": "incr", "path": "visits", "by": 3}], id="once")])[0]
        self.assertEqual(other["error"]["code"], "id_reused")

    def test_errors_carry_what_the_page_says(self):
        self.write({"op": "set", "path": "phase", "value": "planning"})
        stale = self.requests.submit([self.delta([{"op": "set", "path": "phase", "value": "done"}],
                                                 expect={"fields": {"phase": 0}, "values": {"phase": "started"}})])[0]["error"]
        self.assertEqual((stale["code"], stale["retryable"]), ("stale", True))
        self.assertEqual(stale["guards"]["phase"], {"version": 1, "value": "planning"})
        codes = {}
        for name, delta in {"future": self.delta([{"op": "unset", "path": "phase"}], base=99),
                            "epoch": self.delta([{"op": "unset", "path": "phase"}], epoch="other"),
                            "kind": self.delta([{"op": "incr", "path": "phase"}]),
                            "structure": self.delta([{"op": "set", "path": "phase.x", "value": 1}]),
                            "reserved": self.delta([{"op": "set", "path": "$run.x", "value": 1}]),
                            "unknown": self.delta([{"op": "set", "path": "x", "value": 1, "valeu": 1}]),
                            "suggestion": self.delta([{"op": "accept", "path": "phase", "suggestion": "7.0"}])}.items():
            codes[name] = self.requests.submit([delta])[0]["error"]["code"]
        self.assertEqual(codes, {"future": "future_base", "epoch": "wrong_epoch", "kind": "kind_mismatch",
                                 "structure": "structure_conflict", "reserved": "forbidden", "unknown": "bad_value",
                                 "suggestion": "unknown_suggestion"})

    def test_a_dry_run_changes_nothing(self):
        receipt = self.write({"op": "set", "path": "a", "value": 1}, check=True)
        self.assertEqual((receipt["version"], receipt["ops"]), (1, [{"outcome": "applied"}]))
        self.assertEqual(self.queries.query("get", board=self.board)["version"], 0)

    def test_all_forms_of_a_delta(self):
        for receipt in self.requests.submit([
                {"board": self.board, "json_patch": [{"op": "add", "path": "/a/b", "value": 1}]},
                {"board": self.board, "set": {"c": 2}, "patch": {"s": {"add": ["x"]}}, "incr": {"n": 1}, "max": {"m": 3},
                 "min": {"k": 4}, "append": {"log": "first"}},
                {"board": self.board, "unset": ["c"]}]):
            self.assertIsNone(receipt["error"])
        self.assertEqual(self.queries.query("get", board=self.board)["value"],
                         {"a": {"b": 1}, "s": ["x"], "n": 1, "m": 3, "k": 4, "log": ["first"]})

    def test_a_guess_is_held_and_visible(self):
        self.write({"op": "set", "path": "toefl", "value": 105, "confidence": "verified"})
        result = self.write({"op": "set", "path": "toefl", "value": "随便看看吧", "confidence": "guess"})["ops"][0]
        self.assertEqual((result["outcome"], result["held"]), ("held", ["2.0"]))
        self.assertEqual(result["current"], {"value": 105, "version": 1, "confidence": "verified", "actor": "planner"})

    def test_values_keep_their_form(self):
        values = [None, True, 0, -1, 2 ** 64 - 1, -2 ** 63, 86699530287996692, 1.0, 0.1, 5e-324, "é", "e\u0301", "a\0b", b"bytes",
                  [1, [2, {"k": "v"}]]]
        self.write(*[{"op": "set", "path": "v%d" % i, "value": [value]} for i, value in enumerate(values)])
        state = self.queries.query("get", board=self.board)["value"]
        for i, value in enumerate(values):
            self.assertEqual(pack(state["v%d" % i]), pack([value]))

    def test_many_receipts_are_answered_though_they_need_several_messages(self):
        self.write({"op": "set", "path": "big", "value": "x" * 30000, "confidence": "verified"})
        receipts = self.requests.submit([self.delta([{"op": "set", "path": "big", "value": i, "confidence": "guess"}])
                                         for i in range(100)])
        self.assertEqual([receipt["ops"][0]["outcome"] for receipt in receipts], ["held"] * 100)


class QueryTest(PageTest):
    def setUp(self):
        super().setUp()
        self.write({"op": "set", "path": "trip", "value": {"city": "北京", "days": 3}})
        self.write({"op": "patch", "path": "seen", "add": ["A", 1.0]})
        self.write({"op": "set", "path": "trip.city", "value": "上海"})

    def test_get(self):
        self.assertEqual(self.queries.query("get", board=self.board, path="trip.city"),
                         {"version": 3, "head": 3, "value": "上海", "found": True})
        self.assertEqual(self.queries.query("get", board=self.board, at=1),
                         {"version": 1, "head": 3, "value": {"trip": {"city": "北京", "days": 3}}, "found": True})
        self.assertEqual(self.queries.query("get", board=self.board, path="none")["found"], False)
        self.assertEqual(self.refused(self.queries.query, "get", board=self.board, at=4)["found"], 3)

    def test_full(self):
        full = self.queries.query("full", board=self.board, detail=True)
        self.assertEqual(set(full), {"version", "head", "state", "fields", "suggestions", "digest"})
        self.assertEqual(full["fields"]["trip.days"], {"kind": "register", "value": 3, "confidence": "stated", "version": 1})
        self.assertEqual(full["fields"]["seen"], {"kind": "set", "value": ["A", 1.0], "confidence": {'"A"': "stated", "1": "stated"}})
        self.assertEqual(full["digest"], self.read_copy().digest_bytes().hex())

    def read_copy(self):
        copy, cursor = Copy(), None
        while True:
            page = self.queries.query("cells", board=self.board, cursor=cursor)
            for key, cell in page["cells"]:
                copy.put(key, cell)
            cursor = page["next"]
            if cursor is None:
                self.assertEqual(page["digest"], copy.digest_bytes().hex())
                return copy

    def test_cells(self):
        copy = self.read_copy()
        self.assertEqual(copy.state(), {"trip": {"city": "上海", "days": 3}, "seen": ["A", 1.0]})
        key = next(name for name in copy.cells if name[1] == 1 and copy.cells[name][1] == 1)
        self.assertEqual(key[2], b"\x01")   # 1.0 is named as the integer

    def test_log(self):
        page = self.queries.query("log", board=self.board, **{"from": 2, "to": 2})
        self.assertEqual((page["version"], page["next"]), (3, None))
        self.assertEqual([(event["version"], event["actor"]) for event in page["events"]], [(2, "planner")])

    def test_boards_and_verify_and_stat_and_context(self):
        after, found = None, []
        while True:
            page = self.queries.query("boards", after=after, count=2)
            found += [entry["board"] for entry in page["boards"]]
            after = page["next"]
            if after is None:
                break
        self.assertIn(self.board, found)
        self.assertEqual(found, sorted(found, key=str.encode))
        report = self.queries.query("verify", board=self.board)
        self.assertEqual((report["version"], report["events"], report["defects"]), (3, 3, []))
        self.assertIsInstance(self.queries.query("stat"), dict)
        context = self.queries.query("context", board=self.board, request={"system": "Plan.", "pinned": ["trip"]})
        self.assertEqual((context["board"], context["base"]), (self.board, 3))
        self.assertIn("上海", "".join(message["content"] for message in context["messages"]))

    def test_an_unknown_board_is_empty(self):
        self.assertEqual(self.queries.query("get", board="page/none"), {"version": 0, "head": 0, "value": {}, "found": True})
        self.assertEqual(self.queries.query("cells", board="page/none")["digest"], "0" * 32)


class PastTest(PageTest):
    """Questions about the past, and the op that leads back [6, 9]."""

    SAID = {"value", "confidence", "version", "time", "actor"}

    def setUp(self):
        super().setUp()
        self.write({"op": "set", "path": "trip.city", "value": "上海"}, {"op": "patch", "path": "seen", "add": ["A", "B"]},
                   {"op": "append", "path": "log", "value": "一"}, id="d1", source={"kind": "turn", "ref": "turn-1"})
        bot = self.connect(self.server.endpoint, "bot")
        bot.submit([self.delta([{"op": "set", "path": "trip.city", "value": "北京"}, {"op": "set", "path": "trip.days", "value": 3},
                                {"op": "patch", "path": "seen", "add": ["C"], "remove": ["A"]}], confidence="verified")])
        bot.submit([self.delta([{"op": "set", "path": "trip.city", "value": "随便"}], confidence="guess")])

    def ask(self, what, **members):
        return self.queries.query(what, board=self.board, **members)

    def test_history(self):
        page = self.ask("history", path="trip.city")
        self.assertEqual((page["version"], page["next"]), (3, None))
        newest, middle, oldest = page["revisions"]
        self.assertEqual((newest["op"], newest["outcome"], newest["held"][0]["value"], newest["held"][0]["id"]),
                         ("set", "held", "随便", "3.0"))
        self.assertEqual((middle["kind"], middle["value"], middle["confidence"]), ("register", "北京", "verified"))
        self.assertEqual((oldest["path"], oldest["version"], oldest["actor"], oldest["id"], oldest["base"], oldest["source"]),
                         ("trip.city", 1, "planner", "d1", 0, {"kind": "turn", "ref": "turn-1"}))
        everything, before = [], None
        while True:   # the board in pages of one version
            page = self.ask("history", path="trip", count=1, before=before)
            everything += [(revision["version"], revision["path"]) for revision in page["revisions"]]
            before = page["next"]
            if before is None:
                break
        self.assertEqual(everything, [(3, "trip.city"), (2, "trip.city"), (2, "trip.days"), (1, "trip.city")])
        seen = self.ask("history", path="seen", count=1)["revisions"][0]
        self.assertEqual(([item["value"] for item in seen["added"]], [item["value"] for item in seen["removed"]]), (["C"], ["A"]))

    def test_blame(self):
        answer = self.ask("blame")
        self.assertEqual((answer["version"], answer["head"]), (3, 3))
        city = answer["fields"]["trip.city"]
        self.assertEqual(set(city), self.SAID | {"kind"})
        self.assertEqual((city["value"], city["actor"], city["version"]), ("北京", "bot", 2))
        self.assertEqual([(item["value"], item["actor"]) for item in answer["fields"]["seen"]["elements"]], [("B", "planner"), ("C", "bot")])
        self.assertEqual([(item["id"], item["source"]) for item in answer["fields"]["log"]["entries"]],
                         [("1.2", {"kind": "turn", "ref": "turn-1"})])
        self.assertEqual(self.ask("blame", path="trip.city", at=1)["fields"]["trip.city"]["actor"], "planner")

    def test_diff(self):
        answer = self.ask("diff", **{"from": 1})
        self.assertEqual((answer["from"], answer["to"], answer["head"], answer["next"]), (1, 3, 3, None))
        fields = {field["path"]: field for field in answer["fields"]}
        self.assertEqual(list(fields), ["seen", "trip.city", "trip.days"])
        self.assertEqual((fields["trip.city"]["before"]["value"], fields["trip.city"]["after"]["value"]), ("上海", "北京"))
        self.assertEqual(fields["trip.city"]["suggestions"]["added"][0]["op"], "set")
        self.assertIsNone(fields["trip.days"]["before"])
        self.assertEqual([item["value"] for item in fields["seen"]["elements"]["removed"]], ["A"])
        back = self.ask("diff", **{"from": 3, "to": 1}, path="trip.days")["fields"]
        self.assertIsNone(back[0]["after"])

    def test_a_time_is_a_version(self):
        first = self.ask("blame", at=1)["fields"]["trip.city"]["time"]
        self.assertFalse(self.ask("get", at_time=first - 1, path="trip")["found"])
        self.assertEqual(self.ask("get", at_time=2 ** 50, path="trip.city")["value"], "北京")
        self.assertEqual(self.refused(self.queries.query, "get", board=self.board, at=1, at_time=1)["code"], "bad_request")

    def test_touched_and_suggestions(self):
        self.assertEqual(self.ask("touched", actor="bot", **{"from": 0}),
                         {"version": 3, "paths": ["seen", "trip.city", "trip.days"], "next": None})
        held = self.ask("suggestions", path="trip")["suggestions"]["trip.city"][0]
        self.assertEqual(set(held), self.SAID | {"id", "op", "source"})

    def test_revert_to_a_version(self):
        receipt = self.write({"op": "revert", "path": "trip", "to": 1}, {"op": "revert", "path": "seen", "to": 1})
        self.assertEqual([op["outcome"] for op in receipt["ops"]], ["applied", "applied"])
        self.assertEqual(self.ask("get")["value"], {"trip": {"city": "上海"}, "seen": ["A", "B"], "log": ["一"]})
        self.assertEqual(self.ask("suggestions")["suggestions"], {})
        self.write({"op": "revert", "path": "trip", "to": 3})
        self.assertEqual(self.ask("suggestions")["suggestions"]["trip.city"][0]["id"], "3.0")

    def test_revert_of_an_actor(self):
        self.write({"op": "revert", "path": "seen", "actor": "bot", "since": 0}, {"op": "revert", "path": "trip", "actor": "bot", "since": 0})
        self.assertEqual(self.ask("get")["value"], {"trip": {"city": "上海"}, "seen": ["A", "B"], "log": ["一"]})
        for members in ({}, {"to": 1, "actor": "bot", "since": 0}, {"actor": "bot"}):
            error = self.requests.submit([self.delta([dict(members, op="revert", path="seen")])])[0]["error"]
            self.assertEqual(error["code"], "bad_value")
        error = self.requests.submit([self.delta([{"op": "revert", "path": "seen", "to": 99}])])[0]["error"]
        self.assertEqual(error["code"], "future_base")


class Writer:
    """Random deltas of every verb, on bases that are sometimes old, at all levels of confidence."""

    def __init__(self, seed, board):
        self.random = random.Random(seed)
        self.board = board
        self.version = 0

    def value(self):
        return self.random.choice([1, 1.0, 2.5, "文", "x" * 40, True, [1, "a"], -7, 2 ** 63, b"raw"])

    def op(self):
        pick = self.random.choice
        field = str(self.random.randrange(5))
        op = pick([{"op": "set", "path": "r.%s" % field, "value": self.value()},
                   {"op": "set", "path": "r.%s" % field, "value": self.value(), "ttl_ms": 10 ** 9},
                   {"op": "set", "path": "m%s" % field, "value": {"a\\b": self.value(), "c.d": {"e": self.value()}}},
                   {"op": "patch", "path": "s.%s" % field, "add": [self.value()], "remove": [self.value()]},
                   {"op": "incr", "path": "n.%s" % field, "by": self.random.randrange(-5, 6)},
                   {"op": "max", "path": "x.%s" % field, "value": pick([1, 2.5, 3.0, 4])},
                   {"op": "append", "path": "l.%s" % field, "value": self.value()},
                   {"op": "unset", "path": pick(["r.%s", "s.%s", "m%s", "l.%s", "x.%s"]) % field}])
        return dict(op, confidence=pick(CONFIDENCES))

    def delta(self):
        delta = {"board": self.board, "atomic": False, "ops": [self.op() for _ in range(self.random.randrange(1, 4))],
                 "base": max(0, self.version - self.random.choice([0, 0, 1, 5]))}
        if self.random.random() < 0.3:
            delta["source"] = {"kind": "turn", "ref": "turn-5", "evidence": ["E-17"], "trace": "t"}
        return delta


class FeedTest(PageTest):
    def subscribe(self, feed, start, **members):
        return feed.ask("subscribe", dict(members, board=self.board, **{"from": start}), "subscribed")

    def follow(self, feed, copy, until, exact_from=0):
        """Applies what comes until the copy has version `until` or more; returns the digests of the events."""
        digests = {}
        while copy.version < until:
            kind, body = feed.next_pushed()
            if kind != "events":
                continue
            self.assertEqual(body["board"], self.board)
            for event in body["events"]:
                digests[event[0]] = copy.apply(event)
                if copy.version >= exact_from:
                    self.assertEqual(digests[event[0]], copy.digest_bytes(), "version %d" % copy.version)
        return digests

    def await_kind(self, feed, wanted):
        while True:
            kind, body = feed.next_pushed()
            if kind == wanted:
                return body

    def test_subscribing_from_zero_gives_everything_and_then_live(self):
        self.write({"op": "set", "path": "a", "value": 1})
        feed, copy = self.feed(), Copy()
        self.assertEqual(self.subscribe(feed, 0), {"board": self.board, "epoch": feed.welcome["epoch"], "head": 1, "from": 0})
        self.follow(feed, copy, 1)
        self.assertEqual(self.await_kind(feed, "live"), {"board": self.board, "version": 1})
        self.write({"op": "set", "path": "a", "value": 2})
        self.follow(feed, copy, 2)
        self.assertEqual(self.await_kind(feed, "heartbeat"), {"heads": {self.board: 2}})

    def test_two_hundred_random_changes_give_the_servers_digest(self):
        writer = Writer(20261130, self.board)
        feed, copy = self.feed(), Copy()
        self.subscribe(feed, 0)
        for _ in range(200):
            receipt = self.requests.submit([writer.delta()])[0]
            self.assertIsNone(receipt["error"], receipt)
            writer.version = receipt["version"]
        self.assertGreater(writer.version, 100)
        self.follow(feed, copy, writer.version, exact_from=1)
        full = self.queries.query("full", board=self.board)
        self.assertEqual(full["version"], copy.version)
        self.assertEqual(full["digest"], copy.digest_bytes().hex())
        self.assertEqual(copy.recomputed(), copy.digest_bytes())
        self.assertEqual(pack(in_order(copy.state())), pack(in_order(full["state"])))

    def test_a_copy_joins_while_the_board_moves_on(self):
        """The join recipe of section 13, with pages large enough to differ in their versions."""
        self.write(*[{"op": "set", "path": "big%d" % i, "value": "x" * 3000} for i in range(20)])
        for start in range(20, 300, 20):
            self.write(*[{"op": "set", "path": "big%d" % i, "value": "y" * 3000} for i in range(start, start + 20)])
        stop = threading.Event()
        busy = threading.Thread(target=self.keep_writing, args=(stop,))
        busy.start()
        try:
            copy, cursor, versions = Copy(), None, []
            while True:
                page = self.queries.query("cells", board=self.board, cursor=cursor)
                versions.append(page["version"])
                for key, cell in page["cells"]:
                    copy.put(key, cell)
                cursor = page["next"]
                if cursor is None:
                    break
                time.sleep(0.05)   # a slow reader: the pages differ all the more
            feed = self.feed()
            copy.version = versions[0]
            self.subscribe(feed, copy.version)
            digests = self.follow(feed, copy, versions[-1], exact_from=versions[-1])
            self.assertEqual(digests[versions[-1]].hex(), page["digest"])
            self.assertEqual(copy.recomputed(), copy.digest_bytes())
            self.follow(feed, copy, versions[-1] + 50, exact_from=versions[-1])
        finally:
            stop.set()
            busy.join()
        self.assertGreater(len(versions), 2)
        self.assertGreater(versions[-1], versions[0], "nothing was written meanwhile: this tested nothing")

    def keep_writing(self, stop):
        writer = Writer(7, self.board)
        connection = Connection(zmq.Context.instance(), self.server.endpoint, "busy")
        while not stop.is_set():
            delta = writer.delta()
            delta.pop("base")
            connection.submit([delta, self.delta([{"op": "set", "path": "big%d" % writer.random.randrange(300),
                                                   "value": "z%d" % writer.random.randrange(10 ** 9)}])])
        connection.close()

    def test_a_follower_goes_on_from_its_version_after_a_lost_connection(self):
        writer = Writer(3, self.board)
        copy, seen = Copy(), 0
        for _ in range(5):
            feed = self.feed()
            self.subscribe(feed, copy.version)
            for _ in range(20):
                writer.version = self.requests.submit([writer.delta()])[0]["version"]
            self.follow(feed, copy, seen + (writer.version - seen) // 2, exact_from=1)   # the rest is lost with the connection
            seen = copy.version
            feed.close()
        feed = self.feed()
        self.subscribe(feed, copy.version)
        self.follow(feed, copy, writer.version, exact_from=1)
        self.assertEqual(copy.digest_bytes().hex(), self.queries.query("full", board=self.board)["digest"])

    def test_a_filter_shows_its_paths_and_every_version(self):
        feed = self.feed()
        self.subscribe(feed, 0, paths=["a"])
        self.write({"op": "set", "path": "a.b", "value": 1}, id="seen")
        self.write({"op": "set", "path": "ab", "value": 2}, id="unseen", source={"kind": "k"})
        events = []
        while len(events) < 2:
            kind, body = feed.next_pushed()
            events += body["events"] if kind == "events" else []
        self.assertEqual([event[0] for event in events], [1, 2])
        self.assertEqual((events[0][2], events[0][3], [change[0][0] for change in events[0][6]]), ("planner", "seen", ["a.b"]))
        self.assertEqual(events[1][2:], ["", "", 0, None, [], None, None])

    def test_a_deleted_board_ends_with_one_last_event(self):
        self.write({"op": "set", "path": "城市", "value": "上海"}, {"op": "patch", "path": "s", "add": ["x", "y"]})
        feed, copy, part = self.feed(), Copy(), self.feed()
        self.subscribe(feed, 0)
        self.subscribe(part, 0, paths=["elsewhere"])
        self.follow(feed, copy, 1)
        self.write({"op": "delete"}, id="the end")
        self.follow(feed, copy, 2, exact_from=2)
        self.assertEqual((copy.cells, copy.digest), ({}, 0))
        events = []
        while len(events) < 2:
            kind, body = part.next_pushed()
            events += body["events"] if kind == "events" else []
        self.assertEqual(events[1][6], [[["$board", 5, b""], None]])
        again = self.requests.submit([{"board": self.board, "id": "the end", "ops": [{"op": "delete"}]}])[0]
        self.assertEqual((again["duplicate"], again["version"], again["error"]), (True, 2, None))
        late = self.requests.submit([{"board": self.board, "ops": [{"op": "set", "path": "a", "value": 1}]}])[0]
        self.assertEqual((late["error"]["code"], late["error"]["found"], late["version"]), ("deleted", 2, 2))
        self.assertEqual(self.refused(self.subscribe, self.feed(), 2)["code"], "deleted")
        self.assertEqual(self.refused(self.queries.query, "get", board=self.board)["code"], "deleted")
        listed = [each for each in self.queries.query("boards", deleted=True)["boards"] if each["board"] == self.board]
        self.assertEqual(set(listed[0]), {"board", "version", "time", "actor", "done"})
        self.assertEqual((listed[0]["version"], listed[0]["actor"]), (2, "planner"))

    def test_what_cannot_be_followed(self):
        feed = self.feed()
        error = self.refused(self.subscribe, feed, 1)
        self.assertEqual((error["code"], error["found"]), ("future_base", 0))
        self.assertEqual(self.refused(feed.ask, "subscribe", {"board": "a//b", "from": 0}, "subscribed")["code"], "bad_request")
        self.assertEqual(feed.ask("unsubscribe", {"board": self.board}, "unsubscribed"), {"board": self.board})

    def test_the_open_feed_sends_what_the_feed_sends(self):
        subscriber = self.context.socket(zmq.SUB)
        subscriber.setsockopt(zmq.LINGER, 0)
        tenant = hashlib.sha256(self.board.split("/")[0].encode()).digest()[:8]
        subscriber.setsockopt(zmq.SUBSCRIBE, tenant + hashlib.sha256(self.board.encode()).digest()[:16])
        subscriber.connect(self.requests.welcome["open_feed_endpoint"])
        copy = Copy()
        version = 0
        while not subscriber.poll(50):   # until the subscription has reached the server
            version = self.write({"op": "incr", "path": "n"})["version"]
        version = self.write({"op": "incr", "path": "n"})["version"]
        self.write({"op": "set", "path": "other", "value": 1})
        while copy.version < version + 1:
            self.assertTrue(subscriber.poll(10000))
            topic, frame = subscriber.recv_multipart()
            self.assertEqual(topic[:8], tenant)
            kind, ident, body = unpack(frame)
            self.assertEqual(ident, 0)
            if kind != "events":
                continue
            for event in body["events"]:
                if copy.version == 0:
                    copy.version = event[0] - 1
                copy.apply(event)
        while True:
            self.assertTrue(subscriber.poll(10000))
            kind, _, body = unpack(subscriber.recv_multipart()[1])
            if kind == "heartbeat":
                self.assertEqual(body, {"heads": {self.board: version + 1}})
                break
        subscriber.close()


class RestartTest(unittest.TestCase):
    def test_after_a_restart_hello_and_the_version_are_enough(self):
        context = zmq.Context()
        with tempfile.TemporaryDirectory() as directory:
            data = os.path.join(directory, "data")
            copy, delta = Copy(), {"id": "d", "board": "b", "ops": [{"op": "incr", "path": "n"}]}
            for round_number in range(2):
                server = Server(data)
                requests = Connection(context, server.endpoint, "a")
                receipt = requests.submit([delta])[0]
                self.assertEqual((receipt["version"], receipt["duplicate"]), (1, round_number == 1))
                version = requests.submit([dict(delta, id="r%d" % round_number)])[0]["version"]
                feed = Connection(context, requests.welcome["feed_endpoint"], "a")
                feed.ask("subscribe", {"board": "b", "from": copy.version}, "subscribed")
                while copy.version < version:
                    kind, body = feed.next_pushed()
                    for event in body["events"] if kind == "events" else []:
                        self.assertEqual(copy.apply(event), copy.digest_bytes())
                if round_number == 0:
                    epoch = requests.welcome["epoch"]
                self.assertEqual(requests.welcome["epoch"], epoch)
                requests.close()
                feed.close()
                server.stop()
        context.destroy(linger=0)


class ExampleTest(unittest.TestCase):
    """The worked examples of the page are true."""

    def setUp(self):
        with open(PAGE, encoding="utf-8") as page:
            self.text = page.read()

    def block(self, title):
        found = re.search(re.escape(title) + r".*?```\n(.*?)```", self.text, re.DOTALL)
        self.assertTrue(found, "the page lacks the example: " + title)
        return dict(re.findall(r"^(\S+(?: \S+)?) += (.*)$", found.group(1), re.MULTILINE))

    def test_digest(self):
        lines = self.block("*A worked example.*")
        total = 0
        for name in ("1", "2", "3"):
            key, cell = eval(lines["key " + name]), eval(lines["cell " + name])   # Python notation; the page is our own
            self.assertEqual((pack(key) + pack(cell_in_canonical_form(cell))).hex(), lines["bytes " + name])
            self.assertEqual("%032x" % part_of_digest(key, cell), lines["N " + name])
            total += part_of_digest(key, cell)
        self.assertEqual("%032x" % (total % 2 ** 128), lines["digest"])

    def test_topic(self):
        found = re.search(r"topic of `(\S+?)` is\s+`([0-9a-f]{48})`", self.text)
        tenant, board = found.group(1).split("/")[0], found.group(1)
        self.assertEqual((hashlib.sha256(tenant.encode()).digest()[:8] + hashlib.sha256(board.encode()).digest()[:16]).hex(),
                         found.group(2))


def in_order(value):
    """Members of maps sorted, numbers as they are."""
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    TAFELD, PAGE = sys.argv[1], sys.argv[2]
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
