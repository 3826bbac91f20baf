#!/usr/bin/env python3
"""Runs the worked cases of tests/vectors through an implementation of the merge semantics.

    check_vectors.py --oracle                    the naive Python judge itself
    check_vectors.py --implementation CMD        a program that speaks the case protocol over a pipe

Receipts are compared by the members that a case lists; state and fields exactly, suggestions by the members listed.
Numbers are equal by value everywhere.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys

import oracle

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "vectors"
CASE_MEMBERS = ("schema", "rights", "floor", "epoch", "batches", "deltas")


def differences(expected, found, where="", subset=False):
    """What is wrong, as lines of text. `subset`: members that `expected` does not name may be anything."""
    if isinstance(expected, dict) and isinstance(found, dict):
        names = expected if subset else {**expected, **found}
        return [line for name in names for line in difference_of_member(expected, found, name, where, subset)]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found))
        return [line for at, (left, right) in pairs for line in differences(left, right, f"{where}[{at}]", subset)]
    if oracle.canonical(expected) == oracle.canonical(found):
        return []
    return [f"{where}: expected {show(expected)}, found {show(found)}"]


def difference_of_member(expected, found, name, where, subset):
    where = f"{where}.{name}"
    if name not in expected:
        return [f"{where}: not expected, found {show(found[name])}"]
    if name not in found and expected[name] not in (None, False):
        return [f"{where}: expected {show(expected[name])}, found nothing"]
    return differences(expected[name], found.get(name, expected[name]), where, subset)


def show(value):
    return json.dumps(value, ensure_ascii=False)


def by_value(fields):
    """Keys of a set's confidences are JSON texts: brings them to one spelling of numbers."""
    return {path: {**told, "confidence": {oracle.canonical(oracle.load(key)): rank for key, rank in told["confidence"].items()}}
            if told.get("kind") == "set" else told for path, told in fields.items()}


def check(vector, result):
    lines = differences(vector["receipts"], result["receipts"], "receipts", subset=True)
    lines += [f"receipts[{at}]: an error that was not expected: {show(found['error'])}"
              for at, (told, found) in enumerate(zip(vector["receipts"], result["receipts"]))
              if found.get("error") and "error" not in told]
    lines += differences(vector["version"], result["version"], "version")
    lines += differences(vector["state"], result["state"], "state")
    lines += differences(by_value(vector["fields"]), by_value(result["fields"]), "fields")
    expected, found = vector.get("suggestions", {}), result.get("suggestions", {})
    lines += [f"suggestions: at {path!r} none were expected" for path in found if path not in expected]
    lines += differences(expected, found, "suggestions", subset=True)
    return lines


def run_all(cases, command):
    """The results of all cases, in order; from the oracle when no command is given."""
    if command is None:
        return [oracle.run_case(oracle.load(json.dumps(case))) for case in cases]
    text = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
    done = subprocess.run(shlex.split(command), input=text.encode(), stdout=subprocess.PIPE, check=False)
    results = [oracle.load(line) for line in done.stdout.decode().splitlines()]
    if done.returncode != 0 or len(results) != len(cases):
        sys.exit(f"{command}: exit code {done.returncode}, {len(results)} results for {len(cases)} cases")
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--implementation", metavar="CMD")
    parser.add_argument("--oracle", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path, default=[VECTORS / "merge.json", VECTORS / "own.json"])
    options = parser.parse_args()
    if options.oracle == bool(options.implementation):
        parser.error("give either --implementation CMD or --oracle")
    vectors = [vector for name in options.files for vector in oracle.load(name.read_text(encoding="utf-8"))]
    cases = [{name: vector[name] for name in CASE_MEMBERS if name in vector} for vector in vectors]
    failed = 0
    for vector, result in zip(vectors, run_all(cases, options.implementation)):
        lines = check(vector, result)
        failed += bool(lines)
        if lines:
            print(f"FAILED {vector['name']}", *lines, sep="\n  ")
    print(f"vectors: {len(vectors)} cases, {failed} failed")
    sys.exit(1 if failed or not vectors else 0)


if __name__ == "__main__":
    main()
