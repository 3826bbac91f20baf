#!/usr/bin/env python3
"""Random cases for the merge semantics: few paths and few values, so that everything meets everything.

A case is built delta by delta beside a board of the oracle, since the interesting deltas answer to what is there: a record
sent back whole, a suggestion accepted, an expectation that just holds. So a case comes with the oracle's result.

    generate.py --coverage 2000        how often each branch of the oracle is reached, and the lines that never are
"""

import argparse
import ast
import collections
import pathlib
import random
import sys
import trace

import oracle

HABIT = {"a": "set", "a.b": "set", "s": "patch", "r.s": "patch", "n": "incr", "r.n": "incr", "r.x": "set", "r.y": "set",
         "r.k\\.z": "set", "log": "append", "hi": "max", "lo": "min", "城市": "set", "l": "set"}
KINDS = {"set": "register", "patch": "set", "incr": "counter", "append": "log", "max": "max", "min": "min"}
PATHS = list(HABIT)
CONTESTED = ["a", "r.x", "城市", "s", "r.s", "log"]
BAD_PATHS = ["", "a..b", "a\\", "$run.x", "a\u0007"]
SCALARS = [1, 1.0, 2, 0, "x", "y", "英国", "中文", True, False, 2.5, -1, 2**63, "x "]
BLANKS = ["", "  ", None, [], {}, "\u3000"]
LISTS = [["x"], ["x", "y"], ["y", "x"], [1, 2], [1.0, 2], [None], ["", "x"]]
MAPS = [{"x": 1}, {"x": 1, "y": "乙"}, {"k.z": True, "x": ""}, {"s": ["x", "z"]}, {"n": 1}, {"x": {"y": 1}}, {"x": {}}]
ITEMS = ["x", "y", "z", 1, 1.0, "英国", "", None, [1], {"a": 1}]
ACTORS = ["a", "b", "甲"]
GRANTS = [["*"], ["read"], ["read", "set", "patch"], ["set", "unset", "append"], ["read", "accept", "dismiss", "incr"]]
GUARDED = ("**", "**", "*", "r.**", "r.*")


class Generator:
    """Builds one case; everything random comes from the seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.paths = self.random.sample(PATHS, self.pick([1, 1, 2, 2, 3, 5]))
        self.values = self.random.sample(SCALARS, 3)
        self.confidences = self.random.sample(oracle.CONFIDENCES, self.random.randint(2, 4))
        self.haste = self.pick([0.3, 0.9])  # how often a writer has not seen the newest version
        self.is_duel = self.chance(0.5)     # concurrent writers of one or two fields, rather than a bit of everything
        if self.is_duel:
            self.paths = self.random.sample(CONTESTED, self.random.randint(1, 2))
        self.ids = ["D1", "D2", "编号"]
        self.case = {}
        if self.chance(0.3):
            self.case["schema"] = {path: self.rule(path) for path in self.paths if self.chance(0.6)}
        if self.chance(0.12):
            self.case["rights"] = {actor: self.grants() for actor in ACTORS if self.chance(0.9)}
        self.board = oracle.Board(self.case.get("schema"), self.case.get("rights"))
        self.deltas = []
        self.now = 0

    def build(self):
        """(case, the oracle's result)"""
        receipts = []
        count = self.random.randint(2, 9)
        for index in range(count):
            if index == count - 1 and self.chance(0.1):
                self.board.floor = self.case["floor"] = self.random.randint(0, self.board.version)
            delta = self.delta()
            if "floor" in self.case and isinstance(delta, dict):
                delta.pop("id", None)  # the floor is about judging: a known id would be answered before
            self.deltas.append(delta)
            receipts.append(self.board.submit(delta, 1000 * (1 + index)))
        self.case["deltas"] = self.deltas
        if self.chance(0.4):
            self.case["batches"] = split(self.random, count)
        return self.case, {"receipts": receipts, **self.board.result()}

    # -- Dice

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, items):
        return self.random.choice(items)

    def picks(self, items, most):
        return [self.pick(items) for _ in range(self.random.randint(0, most))]

    # -- Schema and rights

    def rule(self, path):
        habit = HABIT[path]
        rule = {"kind": KINDS[habit]} if self.chance(0.6) else {}
        if habit == "set":
            rule["on_conflict"] = self.pick(["keep_both", "latest", "first", "reject"])
            if self.chance(0.2):
                rule.update(kind="register", whole=True)
        if habit == "incr":
            rule.update(floor=self.pick([-3, 0]), ceil=self.pick([3, 9]), initial=self.pick([0, 2]))
        if habit == "append":
            rule["keep"] = self.pick([1, 2, 3])
        if self.chance(0.2):
            rule["allow_blank"] = True
        return rule

    def grants(self):
        return [{"paths": self.pick((*GUARDED, self.pick(self.paths))), "ops": self.pick(GRANTS),
                 **({"cap": self.pick(self.confidences)} if self.chance(0.5) else {})}
                for _ in range(self.random.randint(1, 4))]

    # -- Deltas

    def delta(self):
        told = [delta for delta in self.deltas if isinstance(delta, dict)]
        if told and self.chance(0.05):
            return {**self.pick(told), "now": self.now}
        index_now = 1000 * (1 + len(self.deltas))  # of a delta that does not say: time must not go back
        if self.now <= index_now and self.chance(0.05):
            self.now = index_now
            return [self.pointer_op() for _ in range(self.random.randint(1, 2))]
        delta = self.frame()
        self.base = min(delta.get("base", self.board.version), self.board.version)
        form = self.random.random()
        if form < 0.05:
            delta["json_patch"] = [self.pointer_op() for _ in range(self.random.randint(1, 3))]
        elif form < 0.11:
            delta.update(self.short_form())
        else:
            most = [1, 1, 1, 2] if self.is_duel else [0, 1, 1, 2, 2, 3, 4]
            delta["ops"] = [self.op() for _ in range(self.pick(most))]
        return delta

    def frame(self):
        """All of a delta but its ops."""
        delta = {}
        if self.chance(0.5):
            delta["actor"] = self.pick(ACTORS)
        if self.chance(self.haste):
            older = self.random.randint(min(1, self.board.version), self.board.version)
            older = min(older, 2) if self.is_duel and self.chance(0.8) else older
            delta["base"] = self.pick([older, older, older, max(0, self.board.version - 1), self.board.version, 0])
        if self.chance(0.006):
            delta["base"] = self.board.version + 1
        if self.chance(0.5):
            delta["confidence"] = self.pick(self.confidences)
        if self.chance(0.1):
            delta["expect"] = self.expect()
        if self.chance(0.15):
            delta["id"] = self.pick(self.ids)
        if self.chance(0.02):
            delta["epoch"] = self.pick(["E", "E", "F"])
        if self.chance(0.15):
            delta["atomic"] = False
        if self.chance(0.06):
            delta["check"] = True
        if self.chance(0.1):
            delta["source"] = {"kind": "turn", "ref": "turn-1"}
        self.now = max(self.now + self.pick([0, 1, 500, 5000]), 1000 * len(self.deltas))
        delta["now"] = self.now
        return delta

    def expect(self):
        """Guards that mostly hold."""
        state, expect = self.board.state, {}
        for _ in range(self.random.randint(1, 2)):
            path = self.pick(self.paths + ["r"])
            segments = oracle.parse_path(path)
            if self.chance(0.2):
                expect["version"] = self.board.version - self.pick([0, 0, 0, min(1, self.board.version)])
            if self.chance(0.5):
                changed = state.last_change(segments, self.now)
                expect.setdefault("fields", {})[path] = changed if self.chance(0.8) else self.random.randint(0, 3)
            if self.chance(0.5):
                found, value = state.value_at(segments, self.now)
                value = value if found else None
                if isinstance(value, list) and self.chance(0.4):
                    value = value[::-1]
                expect.setdefault("values", {})[path] = value if self.chance(0.8) else self.value()
        return expect

    # -- Ops

    def path(self):
        return self.pick(BAD_PATHS) if self.chance(0.005) else self.pick(self.paths)

    def value(self):
        roll = self.random.random()
        return self.pick(self.values if roll < 0.8 else BLANKS if roll < 0.85 else LISTS if roll < 0.95 else MAPS)

    def op(self):
        roll = self.random.random()
        if roll < 0.06:
            return self.pointer_op()
        op = self.echo() if roll < 0.2 else self.answer() if roll < 0.3 else self.plain()
        if self.chance(0.15):
            op["confidence"] = self.pick(self.confidences)
        if self.chance(0.08):
            op["assert"] = self.chance(0.9)
        if op["op"] in ("set", "patch", "append") and self.chance(0.06):
            op["ttl_ms"] = self.pick([1, 1000, 6000])
        if self.chance(0.006):
            op.update(self.pick([{"confidence": "sure"}, {"ttl_ms": 0}, {"path": 7}, {"op": "put"}]))
        return op

    def plain(self):
        path = self.path()
        if self.base > 0 and self.chance(0.12):
            return self.revert()
        roll = self.random.random()
        if self.is_duel:
            roll *= 0.93
        verb = HABIT.get(path, "set") if roll < 0.84 else "unset" if roll < 0.94 else self.pick(list(KINDS))
        return self.with_content({"op": verb, "path": path})

    def with_content(self, op):
        verb = op["op"]
        if verb == "unset" and op["path"] == "log" and self.chance(0.5):
            op["entry"] = f"{self.random.randint(1, 3)}.{self.pick([0, 0, 1])}"
        elif verb == "unset" and self.chance(0.2):
            op["path"] = self.pick(["r", "a", op["path"]])
        elif verb == "patch":
            op.update(self.lists())
        elif verb == "incr":
            op.update({"by": self.pick([1, 1, 2, 2, -1, -1, 0, 2.0, None, 2**63 - 1])} if self.chance(0.8) else {})
        elif verb in ("max", "min"):
            op["value"] = self.pick([1, 2, 2.0, 3, 9.5, None])
        elif verb in ("set", "append"):
            op["value"] = self.value()
            if verb == "set" and self.chance(0.1):
                op.update(path=self.pick(["r", "a"]), value=self.pick(MAPS))
        return op

    def lists(self):
        lists = {"add": self.picks(ITEMS, 2), "remove": self.picks(ITEMS, 2), "reset": self.picks(ITEMS, 3)}
        wanted = [name for name, share in (("add", 0.75), ("remove", 0.5), ("reset", 0.2)) if self.chance(share)]
        return {name: lists[name] for name in wanted}

    def revert(self):
        """Mostly to a version that the writer had seen."""
        version = self.random.randint(0, max(0, self.base - 1)) if self.chance(0.97) else self.board.version + 1
        version = max(version, self.board.floor)  # the replay can refuse a delta at the floor, but not one op of it
        way = {"to": version} if self.chance(0.6) else {"actor": self.pick(ACTORS), "since": version}
        return {"op": "revert", "path": self.pick(self.paths * 2 + ["r"]), **way}

    def echo(self):
        """What the writer had seen, sent back whole, mostly with one change."""
        path = self.pick(self.paths + ["r", "r"])
        found, value = self.board.history[self.base].value_at(oracle.parse_path(path), self.now)
        if not found:
            return self.plain()
        if isinstance(value, dict) and self.chance(0.6):
            value = {**value, self.pick(list(value) + ["new"]): self.pick(SCALARS + LISTS)}
        if isinstance(value, list) and self.chance(0.6):
            value = [item for item in value if self.chance(0.7)] + [self.pick(["z", "x", "英国"])]
            if HABIT.get(path) == "patch" and self.chance(0.4):
                return {"op": "patch", "path": path, "reset": value}
        return {"op": "set", "path": path, "value": value}

    def answer(self):
        """Accepts or dismisses a suggestion."""
        known = [(path, s.id) for path, found in self.board.state.suggestions.items() for s in found]
        path, name = (None, "1.0")
        if known and self.chance(0.95):
            path, name = self.pick(known)
        elif self.chance(0.8):
            return self.plain()
        return {"op": self.pick(["accept", "accept", "dismiss"]), "path": oracle.path_text(path) if path else self.path(),
                "suggestion": name}

    # -- Other input forms

    def pointer(self, ends=("/0",)):
        """The end of a list, "/-", means something in an `add` only; elsewhere it is refused before anything is judged."""
        segments = oracle.parse_path(self.pick(self.paths))
        text = "".join("/" + segment.replace("~", "~0").replace("/", "~1") for segment in segments)
        return text + self.pick(ends) if self.chance(0.25) else text

    def pointer_op(self):
        name = self.pick(["add", "add", "replace", "remove", "copy", "move", "test"])
        op = {"op": name, "path": self.pointer(("/-", "/-", "/0") if name == "add" else ("/0",))}
        if name in ("add", "replace"):
            op["value"] = self.value()
        if name in ("copy", "move"):
            op["from"] = self.pick([self.pointer(), "/r", "/s"])
        if name == "test":
            segments = oracle.parse_pointer(op["path"])
            op["value"] = self.board.state.value_at(segments, self.now)[1] if segments and self.chance(0.8) else self.value()
        return op

    def short_form(self):
        form = {}
        for _ in range(self.random.randint(1, 4)):
            op = self.plain()
            while op["op"] == "revert":  # has no short form
                op = self.plain()
            if op["op"] == "unset":
                form.setdefault("unset", []).append(op["path"])
            elif op["op"] == "patch":
                form.setdefault("patch", {})[op["path"]] = {name: op[name] for name in ("add", "remove", "reset") if name in op}
            else:
                form.setdefault(op["op"], {})[op["path"]] = op.get("by", 1) if op["op"] == "incr" else op["value"]
        return form


def split(dice, count):
    """A random grouping of `count` deltas into batches."""
    sizes = []
    while sum(sizes) < count:
        sizes.append(dice.randint(1, count - sum(sizes)))
    return sizes


def outcomes(result):
    """What happened, in words that can be counted."""
    for receipt in result["receipts"]:
        if receipt["error"]:
            yield "rejects " + receipt["error"]["code"]
        if receipt.get("duplicate"):
            yield "duplicate"
        for op in receipt["ops"]:
            yield " ".join(filter(None, (op["outcome"], op.get("reason"), "+held" * bool(op.get("held")))))
    yield from ("conflicts left" for told in result["fields"].values() if "conflicts" in told)


def print_coverage(count, seed):
    counts = collections.Counter()

    def run():
        for index in range(count):
            counts.update(outcomes(Generator(f"{seed}:{index}").build()[1]))

    tracer = trace.Trace(count=1, trace=0, ignoredirs=[sys.prefix, sys.exec_prefix])
    tracer.runfunc(run)
    hit = {line for (name, line), _ in tracer.results().counts.items() if name == oracle.__file__}
    for name, times in counts.most_common():
        print(f"{times:8}  {name}")
    text = pathlib.Path(oracle.__file__).read_text(encoding="utf-8")
    for number in sorted(statements(text) - hit):
        print(f"never reached: {number}: {text.splitlines()[number - 1].strip()}")


def statements(text):
    """The lines on which a statement of a function begins; a doc comment is none."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    inside = {node for function in functions for node in ast.walk(function) if isinstance(node, ast.stmt)}
    comments = {node for node in inside if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    return {node.lineno for node in inside - comments - set(functions)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coverage", type=int, required=True, metavar="CASES")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    print_coverage(options.coverage, options.seed)


if __name__ == "__main__":
    main()
