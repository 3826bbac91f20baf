#!/usr/bin/env python3
"""The merge semantics a second time, as plainly as possible: the judge that the C++ program is compared with.

It is naive on purpose. Every version keeps a whole copy of the state, and "as of base" is a look into that copy. It has
nothing in common with the C++ code, no tables and no generated files. docs/semantics.md is the text that both follow.

As a program it is a filter. One JSON case a line comes in, `{"schema", "rights", "floor", "epoch", "deltas"}`, and one JSON
result a line goes out, `{"receipts", "version", "state", "fields", "suggestions"}`. A delta may hold two members that only
tests use: `actor` and `now` (milliseconds).
"""

import copy
import json
import math
import re
import sys
import unicodedata
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Optional

CONFIDENCES = ("guess", "inferred", "stated", "confirmed", "verified")
STATED = CONFIDENCES.index("stated")
HIGHEST = len(CONFIDENCES) - 1
OUTCOMES = ("kept_both", "applied", "held", "unchanged", "ignored_blank")  # the first that holds for a leaf is the op's
REASONS = ("echo", "overridden", "absent", "not_seen", "repeated")         # likewise
CHANGES = ("kept_both", "applied", "held")                                 # these take a version

INT_MIN, INT_MAX, UINT_MAX = -2**63, 2**63 - 1, 2**64 - 1
DEPTH_MAX = 32
SIBLINGS_MAX = 256
SUGGESTIONS_MAX = 16
ROUNDS_MAX = 8
TTL_MAX = 2**53
# The White_Space property of Unicode. Python's own strip() also takes U+001C..U+001F, which are no white space.
WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"


class Refusal(Exception):
    """The one reason why an op, and with it the whole delta, changes nothing."""

    def __init__(self, code, path=None, op=None):
        super().__init__(code, path, op)
        self.code, self.path, self.op = code, path, op

    def as_json(self):
        return {"code": self.code, "op": self.op, "path": self.path}


# ---- Values -----------------------------------------------------------------------------------------------------------


class Unreadable:
    """Stands for a piece of JSON that no value can hold, so that the error can still name the op and path."""


def load(text):
    """JSON with exact integers; NaN, infinities, 1e400 and duplicate keys become Unreadable."""
    return json.loads(text, parse_float=_finite, parse_constant=lambda _: Unreadable(), object_pairs_hook=_unique_keys)


def _finite(text):
    number = float(text)
    return number if math.isfinite(number) else Unreadable()


def _unique_keys(pairs):
    return dict(pairs) if len(pairs) == len({key for key, _ in pairs}) else Unreadable()


def canonical(value):
    """Text that is equal exactly for equal values: 1 and 1.0 agree, 1 and true do not, the order of keys does not count."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer() and INT_MIN <= value <= UINT_MAX:
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):  # Python orders text by code point, which is the order of its UTF-8 bytes
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in sorted(value)) + "}"
    return "unreadable"


def equal(left, right):
    return left == right if type(left) is type(right) is str else canonical(left) == canonical(right)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_blank(value):
    if isinstance(value, str):
        return not value.strip(WHITE_SPACE)
    return value is None or value == [] or value == {}


def is_utf8(text):
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def is_value(value, depth=0):
    if isinstance(value, (list, dict)):
        items = value.values() if isinstance(value, dict) else value
        keys = value if isinstance(value, dict) else ()
        return depth < DEPTH_MAX and all(map(is_utf8, keys)) and all(is_value(item, depth + 1) for item in items)
    if isinstance(value, str):
        return is_utf8(value)
    if isinstance(value, int):
        return INT_MIN <= value <= UINT_MAX
    return value is None or isinstance(value, float)


# ---- Paths: tuples of segments ------------------------------------------------------------------------------------------


def is_segment(text):
    return text != "" and is_utf8(text) and not any(unicodedata.category(letter) == "Cc" for letter in text)


def parse_path(text):
    """The segments of a dot path; None when it is malformed."""
    if not isinstance(text, str):
        return None
    segments, at = [""], 0
    while at < len(text):
        letter = text[at]
        if letter == "\\":
            at += 1
            if at == len(text) or text[at] not in ".\\":
                return None
            segments[-1] += text[at]
        elif letter == ".":
            segments.append("")
        else:
            segments[-1] += letter
        at += 1
    return tuple(segments) if all(map(is_segment, segments)) else None


def path_text(segments):
    return ".".join(segment.replace("\\", "\\\\").replace(".", "\\.") for segment in segments)


def parse_pointer(text):
    """The segments of a JSON Pointer (RFC 6901); None when it is malformed or names no field."""
    if not isinstance(text, str) or not text.startswith("/"):
        return None
    segments = []
    for part in text[1:].split("/"):
        if "~" in part.replace("~0", "").replace("~1", ""):
            return None
        segments.append(part.replace("~1", "/").replace("~0", "~"))
    return tuple(segments) if all(map(is_segment, segments)) else None


def is_at_or_below(path, top):
    return path[:len(top)] == top


def matches(pattern, path):
    """`*` stands for one segment, `**` for any number of them."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return matches(pattern[1:], path) or bool(path) and matches(pattern, path[1:])
    return bool(path) and pattern[0] in ("*", path[0]) and matches(pattern[1:], path[1:])


# ---- State ------------------------------------------------------------------------------------------------------------


class Dot(NamedTuple):
    version: int
    index: int  # of the op in its delta
    base: int
    rank: int  # of its confidence
    actor: str
    expires: float


class Sibling(NamedTuple):
    value: Any
    dot: Dot


class Element(NamedTuple):
    value: Any
    dots: tuple
    first: tuple  # version, op and place of the addition that made it present: its place in the order


class Register(NamedTuple):
    siblings: tuple
    kind = "register"

    def live(self, now):
        return Register(tuple(s for s in self.siblings if s.dot.expires > now))

    def shown(self):
        return max(self.siblings, key=lambda s: (s.dot.base, s.dot.version, s.dot.index))

    def conflicts(self):
        return sorted((s for s in self.siblings if s is not self.shown()), key=lambda s: (s.dot.version, s.dot.index))

    def value(self):
        return self.shown().value


class Set(NamedTuple):
    elements: dict  # canonical text → Element, in order of first addition
    kind = "set"

    def live(self, now):
        alive = {key: e._replace(dots=tuple(d for d in e.dots if d.expires > now)) for key, e in self.elements.items()}
        return Set({key: element for key, element in alive.items() if element.dots})

    def value(self):
        return [element.value for element in self.elements.values()]


class Log(NamedTuple):
    entries: tuple  # of Sibling: a value and its dot
    kind = "log"

    def live(self, now):
        return Log(tuple(e for e in self.entries if e.dot.expires > now))

    def value(self):
        return [entry.value for entry in self.entries]


class Number(NamedTuple):
    kind: str  # counter, max or min
    number: Any
    rank: int
    version: int  # when the number last moved

    def live(self, now):
        return self

    def value(self):
        return self.number


class Suggestion(NamedTuple):
    version: int
    index: int
    op: str
    value: Any
    rank: int
    actor: str

    @property
    def id(self):
        return f"{self.version}.{self.index}"

    def as_json(self):
        return {"version": self.version, "op": self.op, "value": self.value, "confidence": CONFIDENCES[self.rank],
                "actor": self.actor, "id": self.id}


class State:
    """All of a board at one version. Cells are never changed in place, so a copy may share them."""

    def __init__(self, cells=(), changed=(), suggestions=()):
        self.cells = dict(cells)              # path → cell; may hold what has expired
        self.changed = dict(changed)          # path → version of the last change, also of leaves that are gone
        self.suggestions = dict(suggestions)  # path → tuple of Suggestion, oldest first

    def copy(self):
        return State(self.cells, self.changed, self.suggestions)

    def leaf(self, path, now):
        """The cell as a reader sees it; None when it is absent."""
        cell = self.cells.get(path)
        cell = cell and cell.live(now)
        return cell if cell and (isinstance(cell, Number) or cell[0]) else None

    def leaves(self, top, now):
        """The present leaves at or below a path, in path order."""
        return [path for path in sorted(self.cells) if is_at_or_below(path, top) and self.leaf(path, now)]

    def value_at(self, path, now):
        """(found, value): of a leaf what it shows, of an inner path the nested map."""
        leaf = self.leaf(path, now)
        if leaf:
            return True, leaf.value()
        tree = {}
        for below in self.leaves(path, now):
            plant(tree, below[len(path):], self.leaf(below, now).value())
        return bool(tree), tree

    def last_change(self, top, now):
        if not self.leaves(top, now):
            return 0
        return max(version for path, version in self.changed.items() if is_at_or_below(path, top))

    def holds(self, path, expected, now):
        """expect.values: sets are compared by their elements, and null is what an absent path holds."""
        leaf = self.leaf(path, now)
        if leaf is None:
            children = {below[len(path)] for below in self.leaves(path, now)}
            if not children or not isinstance(expected, dict):
                return not children and expected is None
            return children == set(expected) and all(self.holds(path + (c,), expected[c], now) for c in children)
        if isinstance(leaf, Set):
            return isinstance(expected, list) and set(leaf.elements) == set(map(canonical, expected))
        return equal(leaf.value(), expected)


def plant(tree, segments, value):
    for segment in segments[:-1]:
        tree = tree.setdefault(segment, {})
    tree[segments[-1]] = value


# ---- Input forms ------------------------------------------------------------------------------------------------------


@dataclass
class Op:
    """One op in the normal form. `path` is None while the form check has not passed it."""

    index: int
    verb: str
    text: Any                              # the path as written
    raw: dict
    pointer: bool = False                  # written as a JSON Pointer
    path: Optional[tuple] = None
    origin: Optional[tuple] = None         # copy, move: where to read
    value: Any = None
    right: str = ""                        # the name under which rights speak of it
    leaves: list = field(default_factory=list)  # set: (path, value) of each leaf after spreading
    explicit: Optional[int] = None         # rank of a confidence that was written down
    add: list = field(default_factory=list)
    remove: list = field(default_factory=list)
    reset: Optional[list] = None
    ttl: Optional[int] = None
    firm: bool = False                     # assert or ttl_ms: never an echo


SHORT_VERBS = ("unset", "set", "patch", "incr", "max", "min", "append")  # unset first, so that a later set stands
SHORT_MEMBER = {"set": "value", "incr": "by", "max": "value", "min": "value", "append": "value"}
POINTER_VERBS = {"add": "set", "replace": "set", "remove": "unset", "move": "move", "copy": "copy", "test": "test"}
VERBS = ("set", "patch", "incr", "max", "min", "append", "unset", "accept", "dismiss", "revert")


def raw_ops(delta):
    """The list of ops, whichever of the forms the delta was written in."""
    short = [verb for verb in SHORT_VERBS if verb in delta]
    forms = [name for name in ("ops", "json_patch") if name in delta]
    if len(forms) + bool(short) != 1:
        raise Refusal("bad_value")
    if short:
        return [op for verb in short for op in short_ops(verb, delta[verb])]
    ops = delta[forms[0]]
    if not isinstance(ops, list):
        raise Refusal("bad_value")
    return ops


def short_ops(verb, content):
    if verb == "unset":
        if not isinstance(content, list) or not all(isinstance(path, str) for path in content):
            raise Refusal("bad_value")
        return [{"op": "unset", "path": path} for path in sorted(content)]
    if not isinstance(content, dict):
        raise Refusal("bad_value")
    if verb == "patch":
        return [{**lists, "op": "patch", "path": path} if isinstance(lists, dict) else Unreadable()
                for path, lists in sorted(content.items())]
    return [{"op": verb, "path": path, SHORT_MEMBER[verb]: value} for path, value in sorted(content.items())]


def normal_ops(delta):
    """(ops, tests): JSON Patch tests are expectations, no ops, and do not count."""
    ops, tests = [], []
    for raw in raw_ops(delta):
        raw = raw if isinstance(raw, dict) else {}
        name = raw.get("op")
        verb = POINTER_VERBS.get(name) if isinstance(name, str) else None
        op = Op(len(ops), verb or name, raw.get("path"), raw, pointer=verb is not None)
        (tests if verb == "test" else ops).append(op)
    return ops, tests


def rank_of(name):
    if name not in CONFIDENCES:
        raise Refusal("bad_value")
    return CONFIDENCES.index(name)


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# ---- The board --------------------------------------------------------------------------------------------------------


class Board:
    def __init__(self, schema=None, rights=None, epoch="E"):
        self.schema = {parse_path(path): rule for path, rule in (schema or {}).items()}
        self.rights = rights and {actor: [(parse_path(g["paths"]), g["ops"], rank_of(g.get("cap", "verified")))
                                          for g in grants] for actor, grants in rights.items()}
        self.epoch = epoch
        self.floor = 0            # the oldest base that is still retained
        self.clock = 0            # the time of the judgement
        self.event_time = 0       # of the newest version; a clock set back revives nothing
        self.history = [State()]  # one whole state per version
        self.actors = [None]      # who made it
        self.receipts = {}        # (actor, delta id) → (canonical payload, receipt)

    @property
    def version(self):
        return len(self.history) - 1

    @property
    def state(self):
        return self.history[-1]

    def rule(self, path, name, default=None):
        return self.schema.get(path, {}).get(name, default)

    def cap(self, actor, right, path):
        """The rank up to which the actor may do this; None when it may not at all."""
        if self.rights is None:
            return HIGHEST
        return max((cap for paths, names, cap in self.rights.get(actor, ())
                    if (right in names or "*" in names) and matches(paths, path)), default=None)

    def submit(self, delta, now):
        """Judges a delta as it came (with the test-only members `actor` and `now`) and gives back the receipt."""
        members = delta if isinstance(delta, dict) else {}
        actor = members.get("actor", "a")
        self.clock = max(self.event_time, members.get("now", now))
        try:
            delta = {"json_patch": delta} if isinstance(delta, list) else delta
            return self.judge(self.checked(delta), actor)
        except Refusal as refusal:
            return {"version": self.version, "ops": [], "error": refusal.as_json()}

    def checked(self, delta):
        """The delta, when its own members are well-formed; the ops are looked at later."""
        if not isinstance(delta, dict):
            raise Refusal("bad_value")
        expect = delta.get("expect", {})
        if not (isinstance(expect, dict) and all(isinstance(expect.get(m, {}), dict) for m in ("fields", "values"))):
            raise Refusal("bad_value")
        counts = [holder[name] for holder, name in ((delta, "base"), (expect, "version")) if name in holder]
        flags = [delta.get("atomic", True), delta.get("check", False)]
        if not all(map(is_count, [*counts, *expect.get("fields", {}).values()])) or any(type(f) is not bool for f in flags):
            raise Refusal("bad_value")
        if not is_segment(delta.get("id", "-")):
            raise Refusal("bad_value")
        rank_of(delta.get("confidence", "stated"))
        return delta

    def judge(self, delta, actor):
        key = (actor, delta.get("id"))
        payload = canonical({name: value for name, value in delta.items() if name not in ("id", "actor", "now")})
        if key in self.receipts:
            first, receipt = self.receipts[key]
            if first != payload:
                raise Refusal("id_reused")
            return {**receipt, "duplicate": True}
        receipt, draft = Judgement(self, delta, actor).run()
        if delta.get("check"):
            return receipt
        if receipt["version"] > self.version:
            self.history.append(draft)
            self.actors.append(actor)
            self.event_time = self.clock
        if key[1] is not None:
            self.receipts[key] = (payload, receipt)
        return receipt

    def result(self):
        """What a reader sees now: the members of a case's result."""
        now, state = self.clock, self.state
        tree, fields = {}, {}
        for path in state.leaves((), now):
            leaf = state.leaf(path, now)
            plant(tree, path, leaf.value())
            fields[path_text(path)] = describe(leaf)
        return {"version": self.version, "state": tree, "fields": fields,
                "suggestions": {path_text(path): [s.as_json() for s in found]
                                for path, found in sorted(state.suggestions.items()) if found}}


def describe(leaf):
    told = {"kind": leaf.kind, "value": leaf.value()}
    if isinstance(leaf, Set):
        told["confidence"] = {key: CONFIDENCES[rank_of_element(e)] for key, e in leaf.elements.items()}
    if isinstance(leaf, Register):
        shown = leaf.shown()
        told.update(confidence=CONFIDENCES[shown.dot.rank], version=shown.dot.version)
        if leaf.conflicts():
            told["conflicts"] = [s.value for s in leaf.conflicts()]
    return told


def rank_of_element(element):
    return max(dot.rank for dot in element.dots)


# ---- The judgement of one delta ---------------------------------------------------------------------------------------


class Result(NamedTuple):
    """What became of an op or of one leaf of it."""

    outcome: str
    reason: Optional[str] = None
    held: tuple = ()
    leaves: dict = {}
    current: Optional[dict] = None
    gated: bool = False  # the confidence gate kept all of it, be it as a new suggestion or as a repeated one

    def as_json(self):
        told = {"outcome": self.outcome, "reason": self.reason, "held": list(self.held), "leaves": self.leaves,
                "current": self.current}
        return {name: value for name, value in told.items() if value}


def unchanged(*reasons, gated=False):
    return Result("unchanged", min(reasons, key=REASONS.index), gated=gated)


def combine(results):
    """One result for a spread map or a subtree: {path: Result} → Result."""
    outcome = min((r.outcome for r in results.values()), key=OUTCOMES.index)
    alike = [r for r in results.values() if r.outcome == outcome]
    held = tuple(dict.fromkeys(name for r in results.values() for name in r.held))
    others = {path_text(path): {"outcome": r.outcome, **({"reason": r.reason} if r.reason else {})}
              for path, r in results.items() if r.outcome != outcome}
    reason = min((r.reason for r in alike), key=REASONS.index) if outcome == "unchanged" else None
    current = alike[0].current if len(results) == 1 else None
    return Result(outcome, reason, held, others, current)


@dataclass
class Claims:
    """Of what an op speaks: what an earlier op of the same delta says about it is void."""

    registers: set = field(default_factory=set)   # paths set to a value
    lists: set = field(default_factory=set)       # paths set to a list: at a set field it speaks of every element
    patches: dict = field(default_factory=dict)   # path → (keys named, whether there is a reset)
    subtrees: set = field(default_factory=set)    # paths unset with all below


class Reading(NamedTuple):
    """What a copy or a move finds at its turn."""

    allowed: bool
    found: bool
    value: object


class Judgement:
    def __init__(self, board, delta, actor):
        self.board, self.delta, self.actor, self.now = board, delta, actor, board.clock
        self.base = delta.get("base", board.version)
        self.version = board.version + 1
        self.atomic = delta.get("atomic", True)

    # -- The delta: epoch, base, expect, form, ops

    def run(self):
        """(receipt, the state after it)"""
        if self.delta.get("epoch", self.board.epoch) != self.board.epoch:
            raise Refusal("wrong_epoch")
        if self.base > self.board.version:
            raise Refusal("future_base")
        if self.base < self.board.floor:
            raise Refusal("base_too_old")
        self.seen = self.board.history[self.base]
        self.ops, tests = normal_ops(self.delta)
        self.check_expect(self.delta.get("expect", {}), tests)
        bad = self.check_forms()
        results = self.judge_rounds(bad)
        changed = any(r["outcome"] in CHANGES for r in results)
        receipt = {"version": self.version if changed else self.board.version, "ops": results, "error": None}
        return receipt, self.draft

    def check_expect(self, expect, tests):
        state, now = self.board.state, self.now
        if expect.get("version", self.board.version) != self.board.version:
            raise Refusal("stale")
        fields = [(guarded_path(text), version) for text, version in expect.get("fields", {}).items()]
        values = [(guarded_path(text), value) for text, value in expect.get("values", {}).items()]
        values += [(self.test_path(test), test.raw["value"]) for test in tests]
        for path, version in sorted(fields):
            if state.last_change(path, now) != version:
                raise Refusal("stale", path_text(path))
        for path, value in sorted(values, key=lambda guard: guard[0]):
            if not is_value(value):
                raise Refusal("bad_value", path_text(path))
            if not self.may_read_all(state, path):
                raise Refusal("forbidden", path_text(path))  # to compare is to read
            if not state.holds(path, value, now):
                raise Refusal("stale", path_text(path))

    def test_path(self, test):
        path = parse_pointer(test.text)
        if path is None or self.names_an_item(self.board.state, path):
            raise Refusal("bad_path", test.text if path is None else path_text(path))
        if "value" not in test.raw:
            raise Refusal("bad_value", path_text(path))
        return path

    def check_forms(self):
        """Looks at the form of every op before any is judged. Gives back the bad ones of a delta that is not atomic."""
        bad = {}
        for op in self.ops:
            try:
                self.check_form(op)
            except Refusal as refusal:
                bad[op.index] = self.blame(refusal, op)
        return bad

    def blame(self, refusal, op):
        refusal.op = op.index
        if self.atomic:
            raise refusal
        return refusal

    def judge_rounds(self, bad):
        """Judges all ops; again while an op was refused, since what it had made void is void no more. Refused is refused."""
        refused = dict(bad)
        self.reads = {op.index: self.read_ahead(op, bad) for op in self.ops if op.origin and op.index not in bad}
        for _ in range(ROUNDS_MAX):
            self.claims = [Claims() if op.index in refused else self.claims_of(op) for op in self.ops]
            results, newly_refused = self.judge_once(refused)
            if not newly_refused:
                break
            refused |= newly_refused
        return results

    def read_ahead(self, op, bad):
        """What a copy or move reads at its turn: the board after the ops before it, as if they stood alone."""
        alone = copy.copy(self)
        alone.ops = self.ops[:op.index]
        try:
            alone.judge_rounds(bad)
        except Refusal:
            pass  # the real run comes to it
        return Reading(self.may_read_all(alone.draft, op.origin), *alone.draft.value_at(op.origin, self.now))

    def judge_once(self, refused):
        self.draft = self.board.state.copy()
        results, newly_refused = [], {}
        for op in self.ops:
            kept = self.draft.copy()
            try:
                if op.index in refused:
                    raise refused[op.index]
                results.append(self.judge_op(op).as_json())
            except Refusal as refusal:
                self.draft = kept  # what a bad op had done to its first leaves
                refusal.path = op.text if refusal.path is None else refusal.path
                results.append({"outcome": "rejected", "error": self.blame(refusal, op).as_json()})
                if op.index not in refused:
                    newly_refused[op.index] = refusal
        return results, newly_refused

    # -- Form

    def check_form(self, op):
        if op.verb not in VERBS and not op.pointer:
            raise Refusal("bad_value", op.text if isinstance(op.text, str) else None)
        self.check_paths(op)
        try:
            self.check_members(op)
            getattr(self, "form_" + op.verb, lambda _: None)(op)
        except Refusal as refusal:
            refusal.path = refusal.path or path_text(op.path)
            raise

    def check_paths(self, op):
        op.path = parse_pointer(op.text) if op.pointer else parse_path(op.text)
        if op.path is None:
            raise Refusal("bad_path", op.text if isinstance(op.text, str) else None)
        if op.verb in ("copy", "move"):
            op.origin = parse_pointer(op.raw.get("from"))
            if op.origin is None:
                raise Refusal("bad_path", op.text)
        if op.pointer and op.path[-1] == "-" and op.raw["op"] == "add" and len(op.path) > 1:
            op.verb, op.path = "add_item", op.path[:-1]
        if op.path[0].startswith("$") or op.verb == "move" and op.origin[0].startswith("$"):
            raise Refusal("forbidden", path_text(op.path))
        op.right = {"add_item": "patch", "copy": "set", "move": "set"}.get(op.verb, op.verb)

    def check_members(self, op):
        written = [holder["confidence"] for holder in (op.raw, self.delta) if "confidence" in holder]
        op.explicit = rank_of(written[0]) if written else None
        if type(op.raw.get("assert", False)) is not bool:
            raise Refusal("bad_value")
        if "ttl_ms" in op.raw:
            op.ttl = op.raw["ttl_ms"]
            if op.verb not in ("set", "patch", "append", "add_item") or not is_count(op.ttl) or not 1 <= op.ttl <= TTL_MAX:
                raise Refusal("bad_value")
        op.firm = op.raw.get("assert", False) or op.ttl is not None

    def form_set(self, op):
        op.value = self.given(op, "value")
        op.leaves = list(self.spread(op.path, op.value))

    def form_append(self, op):
        op.value = self.given(op, "value")

    def form_add_item(self, op):
        op.value = self.given(op, "value")
        op.add = [op.value]

    def form_max(self, op):
        op.value = self.given(op, "value")
        if not is_number(op.value) and not is_blank(op.value):
            raise Refusal("bad_value")

    form_min = form_max

    def form_incr(self, op):
        op.value = op.raw.get("by", 1)
        if not is_value(op.value):
            raise Refusal("bad_value")
        if isinstance(op.value, float) and op.value.is_integer():
            op.value = int(op.value)
        if not is_blank(op.value) and (not is_number(op.value) or isinstance(op.value, float)):
            raise Refusal("bad_value")
        if not is_blank(op.value) and not INT_MIN <= op.value <= INT_MAX:
            raise Refusal("out_of_bounds")

    def form_patch(self, op):
        lists = [op.raw.get(name) for name in ("add", "remove", "reset")]
        if not all(part is None or isinstance(part, list) and all(map(is_value, part)) for part in lists):
            raise Refusal("bad_value")
        op.add, op.remove, op.reset = lists[0] or [], lists[1] or [], lists[2]

    def form_unset(self, op):
        self.check_id(op.raw.get("entry", "0.0"))

    def form_accept(self, op):
        self.check_id(op.raw.get("suggestion"))

    form_dismiss = form_accept

    def form_revert(self, op):
        to, actor, since = (op.raw.get(name) for name in ("to", "actor", "since"))
        if (to is not None) == (actor is not None and since is not None) or (to is None) != (actor is not None):
            raise Refusal("bad_value")
        if not is_count(since if to is None else to) or to is None and not (isinstance(actor, str) and is_segment(actor)):
            raise Refusal("bad_value")

    def form_move(self, op):
        if op.path != op.origin and is_at_or_below(op.path, op.origin):
            raise Refusal("bad_path")  # nothing moves into itself

    def check_id(self, name):
        if not isinstance(name, str) or not re.fullmatch(r"[0-9]{1,20}\.[0-9]{1,20}", name):
            raise Refusal("bad_value")

    def given(self, op, name):
        if name not in op.raw or not is_value(op.raw[name]):
            raise Refusal("bad_value")
        return op.raw[name]

    def spread(self, path, value):
        """The leaves that a `set` names, in path order. A map is stored whole only where the schema says so."""
        whole = self.board.rule(path, "whole", False)
        if not isinstance(value, dict) or not value or whole:
            yield path, value
            return
        for key in sorted(value):
            if not is_segment(key):
                raise Refusal("bad_path")
            yield from self.spread(path + (key,), value[key])

    # -- The last word stands

    def claims_of(self, op):
        claims = Claims()
        if op.verb in ("copy", "move") and not (self.reads[op.index].allowed and self.reads[op.index].found):
            return claims  # there is nothing to write: it will be refused
        if op.verb in ("set", "copy", "move"):
            self.claim_leaves(claims, op.leaves if op.verb == "set" else self.spread(op.path, self.reads[op.index].value))
        if op.verb == "patch" or op.verb == "add_item" and not self.is_log(self.board.state, op.path):
            add, remove, reset = self.without_blanks(op)
            if add or remove or reset is not None:
                named = {canonical(item) for item in [*add, *remove, *(reset or [])]}
                claims.patches[op.path] = (named, reset is not None)
        if op.verb == "unset" and "entry" not in op.raw or op.verb == "revert":
            claims.subtrees.add(op.path)
        if op.verb == "move" and op.origin != op.path:
            claims.subtrees.add(op.origin)
        if op.verb == "accept" and self.suggested(self.board.state, op).op in ("set", "unset"):
            claims.registers.add(op.path)
        return claims

    def claim_leaves(self, claims, leaves):
        for path, value in leaves:
            if not self.is_blank_at(path, value):
                claims.registers.add(path)
            if isinstance(value, list) and self.reset_of(path, value) is not None:
                claims.lists.add(path)

    def later(self, op):
        return self.claims[op.index + 1:]

    def is_void(self, op, path):
        """Whether a later op speaks of this register leaf."""
        return any(path in claims.registers or any(is_at_or_below(path, top) for top in claims.subtrees)
                   for claims in self.later(op))

    def is_void_element(self, op, path, key):
        for claims in self.later(op):
            named, reset = claims.patches.get(path, ((), False))
            if reset or key in named or path in claims.lists and not self.is_other_leaf(path):
                return True
            if any(is_at_or_below(path, top) for top in claims.subtrees):
                return True
        return False

    def is_other_leaf(self, path):
        """Whether the path now holds a leaf that is no set, so that a list set there is a value and no reset."""
        leaf = self.draft.leaf(path, self.now)
        return leaf is not None and leaf.kind != "set" and self.board.rule(path, "kind") != "set"

    # -- One op

    def judge_op(self, op):
        if op.origin and not self.reads[op.index].allowed:
            raise Refusal("forbidden", path_text(op.origin))
        if op.origin and not self.reads[op.index].found:
            raise Refusal("bad_path", path_text(op.path))
        if op.pointer and any(self.names_an_item(self.draft, path) for path in (op.path, op.origin) if path):
            raise Refusal("bad_path", path_text(op.path))
        result = getattr(self, "judge_" + op.verb)(op)
        if result.current and self.board.cap(self.actor, "read", op.path) is None:
            return result._replace(current=None)
        return result

    def names_an_item(self, state, path):
        """Whether a pointer counts into a list: what `/list/0` means would depend on who else writes."""
        for depth in range(1, len(path)):
            is_index = path[depth] == "-" or path[depth].isdecimal() and path[depth].isascii()
            leaf = state.leaf(path[:depth], self.now) if is_index else None
            if leaf and isinstance(leaf.value(), list):
                return True
        return False

    def judge_set(self, op):
        return combine(self.set_leaves(op))

    def set_leaves(self, op):
        direct = [path for path, _ in op.leaves] == [op.path]
        return {path: self.set_leaf(op, path, value, direct) for path, value in op.leaves}

    def set_leaf(self, op, path, value, direct):
        """One leaf of a `set`. `direct`: the op names this very leaf, it does not come out of a map."""
        if self.is_blank_at(path, value):
            return Result("ignored_blank")
        if isinstance(value, list) and self.is_reset(op, path):
            return self.patch_set(op, path, [], [], self.reset_of(path, value))
        if self.is_void(op, path):
            return unchanged("overridden")
        result = self.set_register(op, path, value, direct)
        return self.with_current(result, path, lambda leaf: not equal(leaf.value(), value))

    def is_reset(self, op, path):
        """Whether a list given to this path is the final list of a set, and no value of a register."""
        kind, leaf = self.board.rule(path, "kind"), self.draft.leaf(path, self.now)
        if kind or leaf:
            return (kind or leaf.kind) == "set"
        patched_here = any(path in claims.patches for claims in self.claims[:op.index])
        seen = self.seen.leaf(path, self.now)
        return patched_here or seen is not None and seen.kind == "set"

    def set_register(self, op, path, value, direct):
        if self.is_echo(op, path, value, direct):
            return unchanged("echo")
        rank = self.permit(op, path)
        self.check_place(path, "register")
        return self.write_register(path, value, self.dot(op, rank))

    def is_echo(self, op, path, value, direct):
        seen = self.seen.leaf(path, self.now)
        if op.firm or seen is None or not self.may_read(path):
            return False
        if not isinstance(seen, Register):
            return self.seen.holds(path, value, self.now)
        same = [s for s in seen.siblings if equal(s.value, value)]
        if not same or not direct:
            return bool(same)
        is_choice = len(seen.siblings) > 1
        is_confirmation = op.explicit is not None and op.explicit > same[0].dot.rank
        return not is_choice and not is_confirmation

    def write_register(self, path, value, dot):
        leaf = self.draft.leaf(path, self.now)
        siblings = leaf.siblings if leaf else ()
        stronger = [s for s in siblings if s.dot.rank > dot.rank]
        if stronger:
            known = any(equal(s.value, value) for s in stronger)
            return unchanged("repeated") if known else self.hold(path, "set", value, dot)
        concurrent = [s for s in siblings if s.dot.version > dot.base and not equal(s.value, value)]
        rivals = [s for s in concurrent if s.dot.rank == dot.rank]
        if rivals:
            mode = self.board.rule(path, "on_conflict", "keep_both")
            if mode == "first":
                return self.hold(path, "set", value, dot)
            if mode == "reject":
                raise Refusal("stale", path_text(path))
            rivals = rivals if mode == "keep_both" else []
        if len(rivals) >= SIBLINGS_MAX:
            raise Refusal("too_large", path_text(path))
        self.put(path, Register((*rivals, Sibling(value, dot))), dot)
        for weaker in (s for s in concurrent if s.dot.rank < dot.rank):
            self.suggest(path, "set", weaker.value, weaker.dot)
        return Result("kept_both" if rivals else "applied")

    def judge_patch(self, op):
        add, remove, reset = self.without_blanks(op)
        return self.patch_set(op, op.path, add, remove, reset)

    def patch_set(self, op, path, add, remove, reset):
        """Section 7: brings a SetPatch to the elements that it wants present and those that it wants gone."""
        if not add and not remove and reset is None:
            return Result("ignored_blank")
        seen = self.seen.leaf(path, self.now)
        seen = seen.elements if isinstance(seen, Set) else {}
        added, removed = by_key(add), by_key(remove)
        final = by_key(reset or [])
        wanted = {key: item for key, item in final.items() if key not in removed} | added
        leftover = {key: e.value for key, e in seen.items() if key not in final} if reset is not None else {}
        unwanted = {key: item for key, item in (removed | leftover).items() if key not in wanted}
        spoken = [*wanted, *unwanted]
        void = {key for key in spoken if self.is_void_element(op, path, key)}
        echo = {key for key in wanted if key not in void and self.is_echo_of_element(op, path, seen.get(key), key in added)}
        wanted = {key: item for key, item in wanted.items() if key not in void | echo}
        unwanted = {key: item for key, item in unwanted.items() if key not in void}
        reasons = ["echo"] * bool(echo) + ["overridden"] * bool(void)
        if not wanted and not unwanted:
            return unchanged(*(reasons or ["echo"]))
        dot = self.dot(op, self.permit(op, path))
        self.check_place(path, "set")
        result = self.write_set(path, wanted, unwanted, seen, dot, reasons)
        speaks = [key for key in spoken if key not in void]
        shows_else = lambda leaf: any((key in leaf.elements) == (key in unwanted) for key in speaks)
        return self.with_current(result, path, shows_else)

    def is_echo_of_element(self, op, path, element, direct):
        if element is None or op.firm or not self.may_read(path):
            return False
        return not (direct and op.explicit is not None and op.explicit > rank_of_element(element))

    def write_set(self, path, wanted, unwanted, seen, dot, reasons):
        leaf = self.draft.leaf(path, self.now)
        elements = dict(leaf.elements) if leaf else {}
        blocked, changed = [], bool(wanted)
        for key, item in unwanted.items():
            dots = elements[key].dots if key in elements else ()
            old = [d for d in dots if d.version <= dot.base] if key in seen else []
            if not old:
                reasons.append("not_seen" if dots else "absent")
            if any(d.rank > dot.rank for d in old):
                blocked.append(item)
            if any(d.rank <= dot.rank for d in old):
                changed = True
                keep_element(elements, key, [d for d in dots if d.version > dot.base or d.rank > dot.rank])
        for place, (key, item) in enumerate(wanted.items()):
            known = elements.get(key, Element(item, (), (dot.version, dot.index, place)))  # the form of the first addition stays
            elements[key] = known._replace(dots=(*(d for d in known.dots if d.rank > dot.rank), dot))
        if changed:
            self.put(path, Set(elements), dot)
        return self.gate(path, "remove", blocked, dot, changed, reasons)

    def gate(self, path, verb, blocked, dot, changed, reasons):
        """The result of a removal of which `blocked` was too well confirmed to go."""
        held = self.hold(path, verb, blocked, dot) if blocked else None
        if changed:
            return Result("applied", held=held.held if held else ())
        if held is None or held.outcome == "held":
            return held or unchanged(*reasons)
        return unchanged("repeated", *reasons, gated=True)

    def judge_add_item(self, op):
        return self.judge_append(replace(op, right="append")) if self.is_log(self.draft, op.path) else self.judge_patch(op)

    def is_log(self, state, path):
        leaf = state.leaf(path, self.now)
        return self.board.rule(path, "kind", leaf and leaf.kind) == "log"

    def judge_incr(self, op):
        if is_blank(op.value):
            return Result("ignored_blank")
        dot = self.dot(op, self.permit(op, op.path))
        self.check_place(op.path, "counter")
        leaf = self.draft.leaf(op.path, self.now)
        if leaf and op.value == 0:
            return unchanged("echo")
        before = leaf.number if leaf else self.board.rule(op.path, "initial", 0)
        total = self.bounded(op.path, before + op.value)
        rank = max(dot.rank, leaf.rank) if leaf else dot.rank
        self.put(op.path, Number("counter", total, rank, dot.version), dot)
        return Result("applied")

    def bounded(self, path, total):
        floor, ceil = self.board.rule(path, "floor", INT_MIN), self.board.rule(path, "ceil", INT_MAX)
        if not max(INT_MIN, floor) <= total <= min(INT_MAX, ceil):
            raise Refusal("out_of_bounds", path_text(path))
        return total

    def judge_max(self, op):
        if is_blank(op.value):
            return Result("ignored_blank")
        if self.is_echo_of_extremum(op):
            return self.with_current(unchanged("echo"), op.path, lambda shown: not equal(shown.value(), op.value))
        dot = self.dot(op, self.permit(op, op.path))
        self.check_place(op.path, op.verb)
        leaf = self.draft.leaf(op.path, self.now)
        if leaf is None or (op.value > leaf.number if op.verb == "max" else op.value < leaf.number):
            leaf = Number(op.verb, op.value, max(dot.rank, leaf.rank) if leaf else dot.rank, dot.version)
        elif op.explicit is not None and op.explicit > leaf.rank:
            leaf = leaf._replace(rank=op.explicit)
        else:
            return self.with_current(unchanged("echo"), op.path, lambda shown: not equal(shown.value(), op.value))
        self.put(op.path, leaf, dot)
        return Result("applied")

    judge_min = judge_max

    def is_echo_of_extremum(self, op):
        seen = self.seen.leaf(op.path, self.now)
        if op.firm or seen is None or seen.kind != op.verb or not self.may_read(op.path):
            return False
        return equal(seen.number, op.value) and not (op.explicit is not None and op.explicit > seen.rank)

    def judge_append(self, op):
        if self.is_blank_at(op.path, op.value):
            return Result("ignored_blank")
        dot = self.dot(op, self.permit(op, op.path))
        self.check_place(op.path, "log")
        leaf = self.draft.leaf(op.path, self.now)
        entries = (*(leaf.entries if leaf else ()), Sibling(op.value, dot))
        self.put(op.path, Log(entries[-self.board.rule(op.path, "keep", len(entries)):]), dot)
        return Result("applied")

    def judge_copy(self, op):
        return combine(self.copy_leaves(op))

    def copy_leaves(self, op):
        value = self.reads[op.index].value
        return self.set_leaves(replace(op, verb="set", leaves=list(self.spread(op.path, value))))

    def judge_move(self, op):
        if op.origin == op.path:
            return self.judge_copy(op)
        copied = self.copy_leaves(op)
        removed = self.unset_leaves(replace(op, verb="unset", path=op.origin, right="unset"))
        return combine({**copied, **removed})

    # -- Unset

    def judge_unset(self, op):
        if "entry" in op.raw:
            return self.unset_entry(op, op.raw["entry"])
        return combine(self.unset_leaves(op))

    def unset_leaves(self, op):
        leaves = self.draft.leaves(op.path, self.now)
        return {path: self.unset_leaf(op, path) for path in leaves} or {op.path: self.unset_nothing(op)}

    def unset_nothing(self, op):
        if self.is_void(op, op.path):
            return unchanged("overridden")
        self.permit(op, op.path)
        return unchanged("absent")

    def unset_leaf(self, op, path):
        leaf = self.draft.leaf(path, self.now)
        void = ()
        if leaf.kind == "register" and self.is_void(op, path):
            return unchanged("overridden")
        if leaf.kind == "set":
            void = {key for key in leaf.elements if self.is_void_element(op, path, key)}
            if len(void) == len(leaf.elements):
                return unchanged("overridden")
        if not self.may_read(path) and path != op.path:
            self.permit_unnamed(op, path)
        dot = self.dot(op, self.permit(op, path))
        if leaf.kind == "set":
            result = self.unset_set(path, leaf, void, dot)
        else:
            result = getattr(self, "unset_" + leaf.kind)(path, leaf, dot)
        return self.with_current(result, path, lambda _: True)

    def unset_register(self, path, leaf, dot):
        old = [s for s in leaf.siblings if s.dot.version <= dot.base]
        gone = [s for s in old if s.dot.rank <= dot.rank]
        if gone:
            self.put(path, Register(tuple(s for s in leaf.siblings if s not in gone)), dot)
        return self.gate_unset(path, dot, changed=bool(gone), is_blocked=len(gone) < len(old))

    def gate_unset(self, path, dot, changed, is_blocked):
        held = self.hold(path, "unset", None, dot) if is_blocked else None
        if changed:
            return Result("applied", held=held.held if held else ())
        return held or unchanged("not_seen")

    def unset_set(self, path, leaf, void, dot):
        elements, changed, is_blocked = dict(leaf.elements), False, False
        for key, element in leaf.elements.items():
            if key in void:
                continue
            old = [d for d in element.dots if d.version <= dot.base]
            is_blocked |= any(d.rank > dot.rank for d in old)
            if any(d.rank <= dot.rank for d in old):
                changed = True
                keep_element(elements, key, [d for d in element.dots if d.version > dot.base or d.rank > dot.rank])
        if changed:
            self.put(path, Set(elements), dot)
        return self.gate_unset(path, dot, changed, is_blocked)

    def unset_counter(self, path, leaf, dot):
        if leaf.rank > dot.rank:
            return self.hold(path, "unset", None, dot)
        if leaf.version <= dot.base:
            return self.drop(path, dot)
        seen = self.seen.leaf(path, self.now)
        if seen is None or seen.kind != "counter" or seen.number == 0:
            return unchanged("not_seen")
        rest = self.bounded(path, leaf.number - seen.number)
        self.put(path, leaf._replace(number=rest, version=dot.version), dot)
        return Result("applied")

    def unset_max(self, path, leaf, dot):
        if leaf.rank > dot.rank:
            return self.hold(path, "unset", None, dot)
        return unchanged("not_seen") if leaf.version > dot.base else self.drop(path, dot)

    unset_min = unset_max

    def unset_log(self, path, leaf, dot):
        if any(e.dot.rank > dot.rank for e in leaf.entries):
            return self.hold(path, "unset", None, dot)
        known = {id_of(e.dot) for e in self.entries_seen(path)}
        kept = tuple(e for e in leaf.entries if e.dot.version > dot.base or id_of(e.dot) not in known)
        if len(kept) == len(leaf.entries):
            return unchanged("not_seen")
        self.put(path, Log(kept), dot)
        return Result("applied")

    def unset_entry(self, op, name):
        dot = self.dot(op, self.permit(op, op.path))
        leaf = self.draft.leaf(op.path, self.now)
        if leaf and leaf.kind != "log":
            raise Refusal("kind_mismatch", path_text(op.path))
        found = [e for e in (leaf.entries if leaf else ()) if id_of(e.dot) == name]
        if not found:
            return unchanged("absent")
        if found[0].dot.version > dot.base or name not in map(id_of, (e.dot for e in self.entries_seen(op.path))):
            return unchanged("not_seen")
        if found[0].dot.rank > dot.rank:
            return self.hold(op.path, "unset", name, dot)
        self.put(op.path, Log(tuple(e for e in leaf.entries if e not in found)), dot)
        return Result("applied")

    def entries_seen(self, path):
        """An entry that a revert brought back keeps its key, so its age alone does not tell whether it was seen."""
        seen = self.seen.leaf(path, self.now)
        return seen.entries if isinstance(seen, Log) else ()

    # -- Revert

    def judge_revert(self, op):
        return combine(self.revert_leaves(op) or {op.path: self.revert_nothing(op)})

    def revert_nothing(self, op):
        self.permit(op, op.path, HIGHEST)
        return unchanged("echo")

    def revert_leaves(self, op):
        version = op.raw["to"] if op.raw.get("to") is not None else op.raw["since"]
        if version > self.base:
            raise Refusal("future_base", path_text(op.path))
        if version < self.board.floor:
            raise Refusal("base_too_old", path_text(op.path))
        results, leaves = {}, []
        for path, cells in sorted(self.cells_to_revert(op, version).items()):
            cells = {name: pair for name, pair in cells.items() if not self.is_void_cell(op, path, name, pair)}
            if not cells:
                results[path] = unchanged("overridden")
                continue
            if not self.may_read(path):
                try:
                    self.permit(op, path, HIGHEST)
                except Refusal:
                    raise Refusal("forbidden", path_text(op.path)) from None
            leaves.append(LeafRevert(self, op, path, cells, self.permit(op, path, HIGHEST)))
        for leaf in leaves:
            leaf.take_away()
        for leaf in leaves:
            leaf.bring_back()
            results[leaf.path] = leaf.result()
        return results

    def is_void_cell(self, op, path, name, pair):
        cell = pair[0] or pair[1]
        if isinstance(cell, Register):
            return self.is_void(op, path)
        return name[0] == "element" and self.is_void_element(op, path, name[1])

    def cells_to_revert(self, op, version):
        """path → {name of a cell: (as it shall be, as the writer saw it)}, for those that say something else."""
        history, found = self.board.history, {}
        states = history[version:self.base + 1]
        for path in {path for state in states for path in (*state.cells, *state.suggestions) if is_at_or_below(path, op.path)}:
            seen = cells_at(self.seen, path, self.now)
            for name in {name for state in states for name in cells_at(state, path, -math.inf)}:
                target = cells_at(history[version], path, self.now).get(name)
                if op.raw.get("to") is None:
                    target = self.without_actor(op, path, name, seen.get(name), version)
                if saying(target) != saying(seen.get(name)):
                    found.setdefault(path, {})[name] = (target, seen.get(name))
        return found

    def without_actor(self, op, path, name, seen, since):
        """The cell before the unbroken run of the actor's changes; of a counter, without what the actor added."""
        raw = [cells_at(state, path, -math.inf).get(name) for state in self.board.history[:self.base + 1]]
        changes = [v for v in range(self.base, since, -1) if raw[v] != raw[v - 1]]
        mine = [self.board.actors[v] == op.raw["actor"] for v in changes]
        others = mine.index(False) if False in mine else len(mine)
        before = cells_at(self.board.history[changes[others - 1] - 1], path, self.now).get(name) if others else seen
        if others == len(mine) or not is_counter(seen) or not is_counter(before):
            return before
        added = 0
        for version, is_mine in zip(changes, mine):
            if not is_counter(raw[version]):
                break  # what was counted before went then
            start = raw[version - 1].number if is_counter(raw[version - 1]) else self.initial(path)
            added += raw[version].number - start if is_mine else 0
        if not INT_MIN <= seen.number - added <= INT_MAX:
            raise Refusal("out_of_bounds", path_text(path))
        return seen._replace(number=seen.number - added, rank=before.rank)

    def initial(self, path):
        return self.board.rule(path, "initial", 0)

    # -- Suggestions

    def suggested(self, state, op):
        found = [s for s in state.suggestions.get(op.path, ()) if s.id == op.raw["suggestion"]]
        return found[0] if found else Suggestion(0, 0, "", None, 0, "")

    def judge_accept(self, op):
        if self.suggested(self.board.state, op).op in ("set", "unset") and self.is_void(op, op.path):
            return unchanged("overridden")
        self.permit(op, op.path)
        suggestion = self.suggested(self.draft, op)
        if not suggestion.op:
            raise Refusal("unknown_suggestion", path_text(op.path))
        result = self.carry_out(op, suggestion)
        if result.outcome == "held" or result.gated:
            return result
        self.drop_suggestion(op.path, suggestion.id)
        return result if result.outcome in CHANGES else Result("applied", current=result.current)

    def carry_out(self, op, suggestion):
        """Does what was suggested, as a write of the accepting actor."""
        leaf = self.draft.leaf(op.path, self.now)
        if suggestion.op == "set" and leaf and leaf.kind in ("max", "min"):
            return self.set_extremum(op, leaf, suggestion.value)
        if suggestion.op == "set":
            return self.set_leaf(op, op.path, suggestion.value, direct=True)
        if suggestion.op == "remove":
            return self.patch_set(op, op.path, [], suggestion.value, None)
        if suggestion.value is not None:
            return self.unset_entry(op, suggestion.value)
        return self.unset_leaf(op, op.path) if self.draft.leaf(op.path, self.now) else unchanged("absent")

    def set_extremum(self, op, leaf, value):
        """What a revert had suggested; it may lead back."""
        dot = self.dot(op, self.permit(op, op.path))
        if leaf.rank > dot.rank:
            return self.hold(op.path, "set", value, dot)
        if leaf.version > dot.base:
            return unchanged("not_seen")
        self.put(op.path, leaf._replace(number=value, rank=dot.rank, version=dot.version), dot)
        return Result("applied")

    def judge_dismiss(self, op):
        self.permit(op, op.path)
        if not self.suggested(self.draft, op).op:
            raise Refusal("unknown_suggestion", path_text(op.path))
        self.drop_suggestion(op.path, op.raw["suggestion"])
        return Result("applied")

    def drop_suggestion(self, path, name):
        self.draft.suggestions[path] = tuple(s for s in self.draft.suggestions[path] if s.id != name)

    def hold(self, path, verb, value, dot):
        name = self.suggest(path, verb, value, dot)
        return Result("held", held=(name,)) if name else unchanged("repeated", gated=True)

    def suggest(self, path, verb, value, dot):
        """Keeps a suggestion and gives back its id; None when the same one is there."""
        known = self.draft.suggestions.get(path, ())
        if any(s.op == verb and s.rank == dot.rank and equal(s.value, value) for s in known):
            return None
        new = Suggestion(dot.version, dot.index, verb, value, dot.rank, dot.actor)
        ordered = sorted((*known, new), key=lambda s: (s.version, s.index))
        self.draft.suggestions[path] = tuple(ordered[-SUGGESTIONS_MAX:])
        return new.id

    # -- What all kinds share

    def permit(self, op, path, unwritten=STATED):
        """The rank at which the op writes this path."""
        cap = self.board.cap(self.actor, op.right, path)
        if cap is None or op.explicit is not None and op.explicit > cap:
            raise Refusal("forbidden", path_text(path))
        return min(unwritten, cap) if op.explicit is None else op.explicit

    def permit_unnamed(self, op, path):
        """As permit, but the refusal does not name a path that the actor may not read."""
        try:
            self.permit(op, path)
        except Refusal:
            raise Refusal("forbidden", path_text(op.path)) from None

    def may_read(self, path):
        return self.board.cap(self.actor, "read", path) is not None

    def may_read_all(self, state, path):
        """Whether the actor may read every leaf at or below the path; where there is none, the path."""
        return all(map(self.may_read, state.leaves(path, self.now) or [path]))

    def check_place(self, path, kind):
        """A leaf has no children, and a field keeps its kind."""
        above = any(self.draft.leaf(path[:depth], self.now) for depth in range(1, len(path)))
        if above or any(below != path for below in self.draft.leaves(path, self.now)):
            raise Refusal("structure_conflict", path_text(path))
        leaf = self.draft.leaf(path, self.now)
        declared = self.board.rule(path, "kind", kind)
        if declared != kind or leaf and leaf.kind != kind:
            raise Refusal("kind_mismatch", path_text(path))

    def dot(self, op, rank):
        expires = math.inf if op.ttl is None else self.now + op.ttl
        return Dot(self.version, op.index, self.base, rank, self.actor, expires)

    def put(self, path, cell, dot):
        """Stores a cell that an op has changed; suggestions that its writer had seen and outranks are settled by it."""
        self.draft.cells[path] = cell
        self.draft.changed[path] = dot.version
        self.draft.suggestions[path] = tuple(s for s in self.draft.suggestions.get(path, ())
                                             if s.rank > dot.rank or s.version > dot.base)

    def drop(self, path, dot):
        self.put(path, None, dot)
        return Result("applied")

    def is_blank_at(self, path, value):
        return is_blank(value) and not self.board.rule(path, "allow_blank", False)

    def drop_blanks(self, path, items):
        return [item for item in items if not self.is_blank_at(path, item)]

    def without_blanks(self, op):
        """(add, remove, reset); reset is None where there is none or nothing is left of it."""
        add, remove = (self.drop_blanks(op.path, part) for part in (op.add, op.remove))
        return add, remove, None if op.reset is None else self.reset_of(op.path, op.reset)

    def reset_of(self, path, items):
        """What a set is reset to by this list; None when it says nothing."""
        said = self.drop_blanks(path, items)
        return said if said or self.board.rule(path, "allow_blank", False) else None

    def with_current(self, result, path, shows_else):
        """Adds what the board shows, where that is not what the op wrote."""
        leaf = self.draft.leaf(path, self.now)
        if result.reason == "overridden" or leaf is None or not shows_else(leaf):
            return result
        current = {"value": leaf.value(), "version": self.draft.changed[path]}
        if isinstance(leaf, Register):
            dot = leaf.shown().dot
            current.update(version=dot.version, confidence=CONFIDENCES[dot.rank], actor=dot.actor)
        return result._replace(current=current)


def is_counter(cell):
    return isinstance(cell, Number) and cell.kind == "counter"


def id_of(dot):
    return f"{dot.version}.{dot.index}"


def cells_at(state, path, now):
    """The cells of one field, by name; a set and a log have one for each element and entry. `now` -inf: expired ones too."""
    leaf = state.leaf(path, now)
    cells = {("suggestion", s.id): s for s in state.suggestions.get(path, ())}
    if isinstance(leaf, Set):
        cells |= {("element", key): element for key, element in leaf.elements.items()}
    elif isinstance(leaf, Log):
        cells |= {("entry", id_of(entry.dot)): entry for entry in leaf.entries}
    elif leaf:
        cells["leaf", ""] = leaf
    return cells


def saying(cell):
    """What a reader hears of a cell: values, confidences, order and expiry, but neither versions nor actors."""
    said = lambda s: (canonical(s.value), s.dot.rank, s.dot.expires)
    if isinstance(cell, Register):
        return "register", *map(said, in_order_of_sight(cell))
    if isinstance(cell, Number):
        return cell.kind, canonical(cell.number), cell.rank
    if isinstance(cell, Element):
        return "element", cell.first, *((d.rank, d.expires) for d in cell.dots)
    if isinstance(cell, Suggestion):
        return "suggestion", cell.op, canonical(cell.value), cell.rank
    return cell and ("entry", said(cell))


def in_order_of_sight(register):
    return [*register.conflicts(), register.shown()]


class LeafRevert:
    """One leaf on its way back: takes away what has come since, then brings back what was there."""

    def __init__(self, judgement, op, path, cells, rank):
        self.judgement, self.op, self.path, self.cells, self.rank = judgement, op, path, cells, rank
        self.draft, self.base, self.now = judgement.draft, judgement.base, judgement.now
        self.outcome, self.reasons, self.held, self.gated = "unchanged", [], [], False

    def result(self):
        if self.outcome == "unchanged" and self.held:
            self.outcome = "held"
        if self.outcome != "unchanged":
            return Result(self.outcome, held=tuple(self.held))
        return unchanged(*(self.reasons or ["echo"]), gated=self.gated)

    def dot(self, rank, number=0, expires=math.inf):
        index = self.op.index if number == 0 else 1024 + self.op.index * (256 + 4096) + number - 1
        return Dot(self.judgement.version, index, self.base, min(rank, self.rank), self.judgement.actor, expires)

    def hold_back(self, verb, value, rank):
        dot = self.dot(rank, 256 + len(self.held) if self.held else 0)
        name = self.judgement.suggest(self.path, verb, value, dot)
        self.gated = True
        if name:
            self.held.append(name)
        else:
            self.reasons.append("repeated")

    def leaf(self):
        return self.draft.leaf(self.path, self.now)

    def put(self, cell):
        self.draft.cells[self.path] = cell
        self.draft.changed[self.path] = self.judgement.version
        self.outcome = self.outcome if self.outcome == "kept_both" else "applied"

    # -- Taking away

    def take_away(self):
        unremoved = []  # elements
        for name, (target, seen) in sorted(self.cells.items(), key=self.order):
            if name[0] == "suggestion":
                self.set_suggestion(name[1], target)
            elif name[0] == "element" and target is None:
                unremoved += self.take_element_away(name[1])
            elif name[0] == "entry" and target is None:
                self.take_entry_away(name[1])
            elif name[0] == "leaf" and (target is None or seen and target.kind != seen.kind):
                self.take_leaf_away()
        if unremoved:
            unremoved.sort(key=lambda element: element.first)
            self.hold_back("remove", [element.value for element in unremoved], self.rank)

    def order(self, item):
        """The leaf, elements by their places, entries and suggestions by their ids."""
        kind, name = item[0]
        if kind == "element":
            return 1, (item[1][1] or item[1][0]).first
        return ("leaf", "element", "entry", "suggestion").index(kind), tuple(map(int, name.split("."))) if name else ()

    def set_suggestion(self, name, target):
        known = self.draft.suggestions.get(self.path, ())
        there = any(s.id == name for s in known)
        if there == (target is not None):
            self.reasons.append("echo")
            return
        known = tuple(s for s in known if s.id != name) + ((target,) if target else ())
        self.draft.suggestions[self.path] = tuple(sorted(known, key=lambda s: (s.version, s.index))[-SUGGESTIONS_MAX:])
        self.outcome = "applied"

    def take_element_away(self, key):
        leaf = self.leaf()
        element = leaf.elements.get(key) if isinstance(leaf, Set) else None
        if element is None:
            self.reasons.append("absent")
            return []
        old = [d for d in element.dots if d.version <= self.base]
        gone = [d for d in old if d.rank <= self.rank]
        if gone:
            elements = dict(leaf.elements)
            keep_element(elements, key, [d for d in element.dots if d not in gone])
            self.put(Set(elements))
        elif len(gone) == len(old):
            self.reasons.append("not_seen")
        return [element] if len(gone) < len(old) else []

    def take_entry_away(self, name):
        leaf = self.leaf()
        found = [e for e in leaf.entries if id_of(e.dot) == name] if isinstance(leaf, Log) else []
        if not found:
            self.reasons.append("absent")
        elif found[0].dot.version > self.base:
            self.reasons.append("not_seen")
        elif found[0].dot.rank > self.rank:
            self.hold_back("unset", name, self.rank)
        else:
            self.put(Log(tuple(e for e in leaf.entries if e is not found[0])))

    def take_leaf_away(self):
        leaf = self.leaf()
        if leaf is None or isinstance(leaf, (Set, Log)):
            self.reasons.append("absent")
        elif isinstance(leaf, Register):
            old = [s for s in leaf.siblings if s.dot.version <= self.base]
            gone = [s for s in old if s.dot.rank <= self.rank]
            if gone:
                self.put(Register(tuple(s for s in leaf.siblings if s not in gone)))
            if len(old) < len(leaf.siblings):
                self.reasons.append("not_seen")
            if len(gone) < len(old):
                self.hold_back("unset", None, self.rank)
        elif leaf.rank > self.rank:
            self.hold_back("unset", None, self.rank)
        elif leaf.version <= self.base:
            self.put(None)
        else:
            self.spare_what_is_newer(leaf)

    def spare_what_is_newer(self, leaf):
        seen = self.judgement.seen.leaf(self.path, self.now)
        if leaf.kind != "counter" or seen is None or seen.kind != "counter" or seen.number == 0:
            self.reasons.append("not_seen")
        else:
            rest = self.judgement.bounded(self.path, leaf.number - seen.number)
            self.put(leaf._replace(number=rest, version=self.judgement.version))

    # -- Bringing back

    def bring_back(self):
        place, brought = None, None
        for name, (target, seen) in sorted(self.cells.items(), key=self.order):
            if target is None or name[0] == "suggestion":
                continue
            kind = {"element": "set", "entry": "log"}.get(name[0]) or target.kind
            if kind != brought:
                self.judgement.check_place(self.path, kind)
                leaf = self.leaf()
                if leaf and leaf.kind != kind:
                    raise Refusal("kind_mismatch", path_text(self.path))
            brought = kind
            if kind == "register":
                self.bring_register_back(target)
            elif kind == "counter":
                self.bring_counter_back(target, seen)
            elif kind in ("max", "min"):
                self.bring_extremum_back(target)
            elif kind == "set":
                self.bring_element_back(name[1], target, seen)
            else:
                self.bring_entry_back(name[1], target)
        if brought == "log" and self.leaf():
            entries = self.leaf().entries
            self.draft.cells[self.path] = Log(entries[-self.judgement.board.rule(self.path, "keep", len(entries)):])

    def bring_register_back(self, target):
        back = [Sibling(s.value, self.dot(s.dot.rank, number, s.dot.expires))
                for number, s in enumerate(in_order_of_sight(target))]
        rank = back[0].dot.rank
        mode = self.judgement.board.rule(self.path, "on_conflict", "keep_both")
        leaf = self.leaf()
        surer, beside, weaker = [], [], []
        for sibling in leaf.siblings if leaf else ():
            is_new = sibling.dot.version > self.base
            if sibling.dot.rank > self.rank or is_new and sibling.dot.rank > rank:
                surer.append(sibling)
            elif not is_new or any(equal(s.value, sibling.value) for s in back):
                continue
            elif sibling.dot.rank < rank:
                weaker.append(sibling)
            elif mode == "reject":
                raise Refusal("stale", path_text(self.path))
            elif mode == "first":
                surer.append(sibling)
            elif mode == "keep_both":
                beside.append(sibling)
        if surer:
            for sibling in back:
                if any(equal(s.value, sibling.value) for s in surer):
                    self.reasons.append("repeated")
                else:
                    self.hold_back("set", sibling.value, rank)
            return
        if len(beside) + len(back) > SIBLINGS_MAX:
            raise Refusal("too_large", path_text(self.path))
        for sibling in weaker:
            self.judgement.suggest(self.path, "set", sibling.value, sibling.dot)
        self.put(Register((*beside, *back)))
        if beside:
            self.outcome = "kept_both"

    def bring_counter_back(self, target, seen):
        initial = self.judgement.initial(self.path)
        was = seen.number if isinstance(seen, Number) and seen.kind == "counter" else initial
        if not INT_MIN <= target.number - was <= INT_MAX:
            raise Refusal("out_of_bounds", path_text(self.path))
        leaf = self.leaf()
        total = self.judgement.bounded(self.path, (leaf.number if leaf else initial) + target.number - was)
        rank = min(target.rank, self.rank)
        if leaf and (leaf.version > self.base or leaf.rank > self.rank):
            rank = max(rank, leaf.rank)
        self.put(Number("counter", total, rank, self.judgement.version))

    def bring_extremum_back(self, target):
        leaf, rank = self.leaf(), min(target.rank, self.rank)
        if leaf and leaf.version > self.base:
            if target.number <= leaf.number if target.kind == "max" else target.number >= leaf.number:
                self.reasons.append("not_seen")
                return
            rank = max(rank, leaf.rank)
        elif leaf and leaf.rank > self.rank:
            self.hold_back("set", target.number, rank)
            return
        self.put(Number(target.kind, target.number, rank, self.judgement.version))

    def bring_element_back(self, key, target, seen):
        leaf = self.leaf()
        elements = dict(leaf.elements) if leaf else {}
        there, first, kept = elements.get(key), target.first, []
        if isinstance(seen, Element) and rank_of_element(seen) > self.rank:
            self.reasons.append("repeated")
            return
        if there:
            if not isinstance(seen, Element) or seen.first != there.first:
                first = there.first
            kept = [d for d in there.dots if d.version > self.base]
        fresh = []
        for was in target.dots:
            dot = self.dot(was.rank, len(fresh), was.expires)
            if not fresh or dot.rank < fresh[-1].rank:
                fresh.append(dot)
            else:
                fresh[-1] = fresh[-1]._replace(expires=max(fresh[-1].expires, dot.expires))
        kept = [d for d in kept if d.rank > fresh[0].rank]
        elements[key] = Element(target.value, (*kept, *fresh), first)
        self.put(Set(dict(sorted(elements.items(), key=lambda item: item[1].first))))

    def bring_entry_back(self, name, target):
        leaf = self.leaf()
        entries = list(leaf.entries) if leaf else []
        there = [e for e in entries if id_of(e.dot) == name]
        if there and there[0].dot.rank > self.rank:
            self.reasons.append("repeated")
            return
        back = Sibling(target.value, target.dot._replace(rank=min(target.dot.rank, self.rank)))
        entries = [e for e in entries if e not in there] + [back]
        self.put(Log(tuple(sorted(entries, key=lambda e: (e.dot.version, e.dot.index)))))


def guarded_path(text):
    path = parse_path(text)
    if path is None:
        raise Refusal("bad_path", text)
    return path


def by_key(items):
    found = {}
    for item in items:
        found.setdefault(canonical(item), item)
    return found


def keep_element(elements, key, dots):
    if dots:
        elements[key] = elements[key]._replace(dots=tuple(dots))
    else:
        del elements[key]


# ---- The case protocol ------------------------------------------------------------------------------------------------


def run_case(case):
    """Judges the deltas of one case in order. `batches` changes nothing here: each delta is a batch of its own."""
    board = Board(case.get("schema"), case.get("rights"), case.get("epoch", "E"))
    receipts = []
    for index, delta in enumerate(case["deltas"]):
        if index == len(case["deltas"]) - 1:
            board.floor = case.get("floor", 0)
        receipts.append(board.submit(delta, 1000 * (1 + index)))
    return {"receipts": receipts, **board.result()}


def main():
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(run_case(load(line)), ensure_ascii=False, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
