#!/usr/bin/env python3
"""Property tests of the merge semantics, against a program that speaks the case protocol over a pipe.

    laws.py --implementation CMD [--histories 20000] [--seed 1] [--jobs 1] [--replay NAME]

Half of the histories are *differential*: a random case is judged by the program and by the naive oracle, and every receipt,
field and suggestion must agree. The other half are the *laws* of docs/semantics.md, tested on the program alone:

    register   concurrent sets leave the same siblings (value, confidence) in every order of arrival and grouping
    set        concurrent SetPatches leave the same elements with the same confidences, likewise
    lattice    increments, maxima and minima commute
    batches    the same order in other groups gives the same receipts, state and digest

Each arrival counts as one history. A failure prints the name of the case (to replay it), the case cut down, and what differs.
"""

import argparse
import json
import multiprocessing
import random
import shlex
import subprocess
import sys
import threading

import generate
import oracle
from check_vectors import by_value, differences

CHUNK = 200       # cases written ahead of the answers read, so that neither side waits for the other
ARRIVALS = 4      # orders tried per set of concurrent deltas
CUTS_MAX = 400    # attempts to make a failing case smaller
CONFIDENCES = oracle.CONFIDENCES


class ProgramEnded(Exception):
    """The implementation has crashed or given up."""


class Program:
    """The implementation under test, kept running; a case a line in, a result a line out."""

    def __init__(self, command):
        self.command = command
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, cases):
        text = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases).encode()
        writer = threading.Thread(target=self.write, args=(text,))
        writer.start()
        lines = [self.process.stdout.readline() for _ in cases]
        writer.join()
        if not all(lines):
            raise ProgramEnded(f"{self.command}: ended (exit code {self.process.wait()}) before it had answered; the first "
                               f"case without an answer:\n{json.dumps(cases[lines.index(b'')], ensure_ascii=False)}")
        return [oracle.load(line) for line in lines]

    def write(self, text):
        try:
            self.process.stdin.write(text)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # run() sees that answers are missing

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# ---- What is compared -------------------------------------------------------------------------------------------------


def essence(result):
    """A result without what implementations may word or order as they like."""
    return {"receipts": [essence_of_receipt(receipt) for receipt in result["receipts"]], "version": result["version"],
            "state": result["state"], "fields": by_value(result["fields"]), "suggestions": {path: [{key: held[key] for key in held if key not in ("time", "source")} for held in found]
                            for path, found in result["suggestions"].items()}}


def essence_of_receipt(receipt):
    return {"version": receipt["version"], "duplicate": receipt.get("duplicate", False),
            "ops": [essence_of_op(op) for op in receipt.get("ops", [])], "error": essence_of_error(receipt.get("error"))}


def essence_of_op(op):
    """Without `current`, which the vectors check: what it shows of several leaves is a matter of presentation."""
    told = {name: op[name] for name in ("outcome", "reason", "held", "leaves") if op.get(name)}
    if op.get("leaves"):
        told["leaves"] = {path: {name: leaf[name] for name in ("outcome", "reason") if leaf.get(name)}
                          for path, leaf in op["leaves"].items()}
    if op.get("error"):
        told["error"] = op["error"]["code"]
    return told


def essence_of_error(error):
    """Which op and path is to blame for a malformed delta is checked by the vectors: there may be several."""
    names = ("code",) if error and error["code"] in ("bad_value", "bad_path") else ("code", "op", "path")
    return error and {name: error.get(name) for name in names}


def siblings(result):
    """Of each register the multiset of (value, confidence), as text."""
    return {path: sorted(oracle.canonical([value, told["confidence"]]) for value in [told["value"], *told.get("conflicts", [])])
            for path, told in result["fields"].items() if told["kind"] == "register"}


def elements(result):
    return {path: told["confidence"] for path, told in by_value(result["fields"]).items() if told["kind"] == "set"}


def numbers(result):
    return {path: told["value"] for path, told in result["fields"].items() if told["kind"] in ("counter", "max", "min")}


def everything(result):
    return result


# ---- Histories --------------------------------------------------------------------------------------------------------


class Differential:
    """One random case; the expectation is the oracle's result."""

    def __init__(self, name):
        self.name = name
        self.case, self.expected = generate.Generator(name).build()

    def cases(self):
        return [self.case]

    def faults(self, results):
        return differences(essence(self.expected), essence(results[0]), "result")

    def smaller(self):
        """The same with something left out, one after the other."""
        for case in cuts_of_case(self.case):
            other = object.__new__(Differential)
            other.name, other.case, other.expected = self.name, case, oracle.run_case(case)
            yield other


class Family:
    """A past, and a set of deltas of which none has seen another, in several orders of arrival."""

    def __init__(self, name, law):
        dice = Dice(name)
        self.name, self.law = name, law
        self.view = LAWS[law][1]
        self.refusals_count = law != "batches"  # the other laws are made of deltas that nothing can reject
        self.schema, self.past, self.deltas = LAWS[law][0](dice)
        orders = [list(range(len(self.deltas)))]
        orders += [dice.sample(orders[0], len(self.deltas)) for _ in range(ARRIVALS - 1)]
        self.orders = [orders[0]] * ARRIVALS if law == "batches" else orders
        self.batches = [generate.split(dice, len(self.past) + len(self.deltas)) for _ in self.orders]

    def cases(self):
        return [{"schema": self.schema, "deltas": self.past + [self.deltas[at] for at in order], "batches": sizes}
                for order, sizes in zip(self.orders, self.batches)]

    def faults(self, results):
        lines = []
        for order, sizes, result in zip(self.orders, self.batches, results):
            found = differences(self.view(results[0]), self.view(result), "result")
            refused = [receipt["error"]["code"] for receipt in result["receipts"] if receipt.get("error")]
            if found or refused and self.refusals_count:
                lines += [f"arrival {order} in batches of {sizes}: refused {refused}", *found]
        return lines

    def smaller(self):
        for deltas in cuts_of_list(self.deltas, lambda delta: cuts_of_delta(delta, keep=("op", "path", "value", "by"))):
            yield self.with_(deltas=deltas, orders=[renumbered(order, len(deltas), self, deltas) for order in self.orders])
        for past in cuts_of_list(self.past, cuts_of_delta):
            yield self.with_(past=past)

    def with_(self, **changes):
        other = object.__new__(Family)
        other.__dict__.update(self.__dict__, **changes, refusals_count=False)
        other.batches = [[1] * (len(other.past) + len(other.deltas))] * len(other.orders) if self.law != "batches" else \
            [generate.split(random.Random(at), len(other.past) + len(other.deltas)) for at in range(len(other.orders))]
        return other


def renumbered(order, count, family, deltas):
    """An order of what is left: `deltas` lacks at most one of the family's."""
    if count == len(family.deltas):
        return order
    gone = next((at for at, delta in enumerate(deltas) if delta is not family.deltas[at]), count)
    return [at - (at > gone) for at in order if at != gone]


# ---- The laws: what their deltas look like ----------------------------------------------------------------------------


class Dice(random.Random):
    """Random numbers, and the few confidences of one family: with all five, most writes would be held."""

    def __init__(self, seed):
        super().__init__(seed)
        self.confidences = self.sample(CONFIDENCES, self.randint(1, 3))


def past_of(dice, make_ops, sees_all):
    """Some deltas before the concurrent ones. What they were is told by `base`: each took one version or none."""
    return [{**frame(dice), "ops": make_ops(dice), **({} if sees_all or dice.random() < 0.5 else {"base": 0})}
            for _ in range(dice.randint(0, 4))]


def frame(dice):
    return {"confidence": dice.choice(dice.confidences)} if dice.random() < 0.7 else {}


def concurrent(dice, past, make_ops):
    """Deltas whose bases all lie at or below the version after the past."""
    newest = oracle.run_case({"deltas": past, "schema": SET_SCHEMA})["version"]
    return [{**frame(dice), "base": dice.choice([newest, dice.randint(0, newest)]), "ops": make_ops(dice)}
            for _ in range(dice.randint(2, 5))]


def spice(dice, op):
    """An op's own confidence, or an assertion."""
    if dice.random() < 0.2:
        op["confidence"] = dice.choice(dice.confidences)
    if dice.random() < 0.15:
        op["assert"] = True
    return op


def register_ops(dice):
    values = [1, 2, 2.0, "甲", ["x"], True]
    ops = []
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        if dice.random() < 0.2:
            value = {leaf: dice.choice(values) for leaf in dice.sample(["x", "y"], dice.randint(1, 2))}
            ops.append(spice(dice, {"op": "set", "path": "r", "value": value}))
        else:
            ops.append(spice(dice, {"op": "set", "path": dice.choice(["r.x", "r.y", "a"]), "value": dice.choice(values)}))
    return ops


def set_ops(dice):
    items = ["x", "y", "英国", 1, 1.0]
    ops = []
    for _ in range(dice.choice([1, 1, 2, 3])):
        if dice.random() < 0.15:
            ops.append(spice(dice, {"op": "set", "path": "s", "value": dice.sample(items, dice.randint(1, 3))}))
            continue
        names = [name for name in ("add", "remove", "reset") if dice.random() < 0.4] or ["add"]
        lists = {name: dice.sample(items, dice.randint(1, 2)) for name in names}
        ops.append(spice(dice, {"op": "patch", "path": dice.choice(["s", "s", "t"]), **lists}))
    return ops


def lattice_ops(dice):
    make = (lambda: {"op": "incr", "path": "n", "by": dice.randint(-5, 5)},
            lambda: {"op": "max", "path": "hi", "value": dice.choice([1, 2, 2.0, 2.5, 2**63])},
            lambda: {"op": "min", "path": "lo", "value": dice.choice([1, 0, 0.5, -2, -2**63])})
    return [spice(dice, dice.choice(make)()) for _ in range(dice.randint(1, 3))]


SET_SCHEMA = {"s": {"kind": "set"}}  # so that a list given to `s` is a reset in every order of arrival


def family_of(make_ops):
    def make(dice):
        past = past_of(dice, make_ops, sees_all=dice.random() < 0.5)
        return SET_SCHEMA, past, concurrent(dice, past, make_ops)
    return make


def batched_family(dice):
    """Any case without a history floor, which counts deltas."""
    case = generate.Generator(str(dice.random())).build()[0]
    while "floor" in case or "rights" in case:
        case = generate.Generator(str(dice.random())).build()[0]
    return case.get("schema", {}), [], case["deltas"]


LAWS = {"register": (family_of(register_ops), siblings), "set": (family_of(set_ops), elements),
        "lattice": (family_of(lattice_ops), numbers), "batches": (batched_family, everything)}


# ---- Making a failure small -------------------------------------------------------------------------------------------


def cuts_of_list(items, cuts_of_item):
    for at in range(len(items)):
        yield items[:at] + items[at + 1:]
    for at, item in enumerate(items):
        for smaller in cuts_of_item(item):
            yield items[:at] + [smaller] + items[at + 1:]


def cuts_of_members(mapping, keep=()):
    for name in mapping:
        if name not in keep:
            yield {other: value for other, value in mapping.items() if other != name}


def cuts_of_delta(delta, keep=()):
    """A delta without one of its ops, or without one member that is not to be kept."""
    if isinstance(delta, list):
        yield from cuts_of_list(delta, lambda op: ())
        return
    for form in ("ops", "json_patch"):
        for ops in cuts_of_list(delta.get(form, []), lambda op: cuts_of_members(op, keep)):
            yield {**delta, form: ops}
    yield from cuts_of_members(delta, keep=("ops", "json_patch", "base"))


def cuts_of_case(case):
    yield from cuts_of_members(case, keep=("deltas",))
    for deltas in cuts_of_list(case["deltas"], cuts_of_delta):
        yield {**{name: value for name, value in case.items() if name != "batches"}, "deltas": deltas}
    for name in ("schema", "rights"):
        for smaller in cuts_of_members(case.get(name, {})):
            yield {**case, name: smaller}


def minimise(history, program):
    """Leaves out whatever the failure does not need: greedy, first come first served."""
    tries, found = 0, True
    while found:
        found = False
        for smaller in history.smaller():
            tries += 1
            if tries > CUTS_MAX:
                return history
            if smaller.faults(program.run(smaller.cases())):
                history, found = smaller, True
                break
    return history


# ---- Running ----------------------------------------------------------------------------------------------------------


def history_of(name):
    """A history is made from its name alone: "seed/kind/number"."""
    kind = name.split("/")[1]
    return Differential(name) if kind == "differential" else Family(name, kind)


def names_of(seed, histories):
    names = [f"{seed}/differential/{at}" for at in range(histories - histories // 2)]
    families = histories // 2 // ARRIVALS
    return names + [f"{seed}/{tuple(LAWS)[at % len(LAWS)]}/{at}" for at in range(families)]


def check_names(command, names):
    """(number of histories run, report of the first failure or None)"""
    program, count = Program(command), 0
    for start in range(0, len(names), CHUNK):
        histories = [history_of(name) for name in names[start:start + CHUNK]]
        cases = [history.cases() for history in histories]
        answers = iter(program.run([case for group in cases for case in group]))
        for history, group in zip(histories, cases):
            count += len(group)
            if history.faults([next(answers) for _ in group]):
                return count, report(history, program)
    program.close()
    return count, None


def report(history, program):
    small = minimise(history, program)
    cases = small.cases()
    results = program.run(cases)
    lines = [f"MISMATCH in {history.name}", *small.faults(results), "cut down to:"]
    for case, result in list(zip(cases, results))[:1 if isinstance(small, Differential) else len(cases)]:
        lines += [json.dumps(case, ensure_ascii=False), "  gives " + json.dumps(result, ensure_ascii=False)]
    if isinstance(small, Differential):
        lines.append("  oracle " + json.dumps(small.expected, ensure_ascii=False))
    return "\n".join(lines)


def check_share(arguments):
    try:
        return check_names(*arguments)
    except ProgramEnded as end:
        return 0, str(end)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--implementation", metavar="CMD", required=True)
    parser.add_argument("--histories", type=int, default=20000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--replay", metavar="NAME", help="run this one, as a failure has named it")
    options = parser.parse_args()
    names = [options.replay] if options.replay else names_of(options.seed, options.histories)
    shares = [(options.implementation, names[at::options.jobs]) for at in range(options.jobs)]
    if options.jobs == 1:
        done = [check_share(shares[0])]
    else:
        with multiprocessing.Pool(options.jobs) as pool:
            done = pool.map(check_share, shares)
    failures = [failure for _, failure in done if failure]
    count = sum(ran for ran, _ in done)
    print(*failures, sep="\n\n", end="\n\n" if failures else "")
    print(f"laws: {count} histories, {len(failures)} failed, seed {options.seed}")
    sys.exit(1 if failures or count == 0 else 0)


if __name__ == "__main__":
    main()
