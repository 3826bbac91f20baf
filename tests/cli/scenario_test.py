#!/usr/bin/env python3
"""Runs the files of tests/cli/scenarios: commands as a person types them, with what they print.

    scenario_test.py --bin build/release/bin [NAMES…]

A line that begins with "$ " is run by bash, with `tafel` in the path and a server of the file's own; the lines after it are
what it prints (standard error too). <time>, <ms>, <id> and <hex> stand for what differs from run to run, "[2]" on a line of its
own for the exit code. Lines that begin with "#" are comments. A name chooses the files that contain it.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from cli_test import Server

HERE = pathlib.Path(__file__).resolve().parent
HOLES = {"<time>": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "<ms>": r"\d{13}", "<id>": r"[^\"\s]+", "<hex>": r"[0-9a-f]+"}


def steps_of(text):
    """[(number of the line, command, lines that it must print)]"""
    steps = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("$ "):
            steps.append((number, line[2:], []))
        elif not line.startswith("#") and steps and line:
            steps[-1][2].append(line)
    return steps


def pattern_of(line):
    pattern = re.escape(line)
    for hole, meaning in HOLES.items():
        pattern = pattern.replace(re.escape(hole), meaning)
    return pattern


class Scenario(unittest.TestCase):
    """One file."""

    bin_folder = None

    def __init__(self, file):
        super().__init__("run_file")
        self.file = file

    def id(self):
        return self.file.stem

    def run_file(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(self.bin_folder, pathlib.Path(folder) / "data").start()
            try:
                environment = {**os.environ, "TAFEL_SERVER": server.endpoint, "TAFEL_ACTOR": "tester",
                               "PATH": f"{self.bin_folder}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
                steps = steps_of(self.file.read_text(encoding="utf-8"))
                self.assertTrue(steps, "the file has no commands")
                for step in steps:
                    self.run_step(step, folder, environment)
            finally:
                server.end()

    def run_step(self, step, folder, environment):
        number, command, expected = step
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=False)
        found = [line for line in done.stdout.decode().splitlines() if line]
        found += [f"[{done.returncode}]"] if done.returncode else []
        same = len(found) == len(expected) and all(re.fullmatch(pattern_of(e), f) for e, f in zip(expected, found))
        self.assertTrue(same, "\n".join([f"{self.file.name}:{number}: $ {command}", "expected:", *expected, "found:", *found]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    Scenario.bin_folder = options.bin.resolve()
    files = [file for file in sorted((HERE / "scenarios").glob("*.txt"))
             if not options.names or any(name in file.stem for name in options.names)]
    result = unittest.TextTestRunner(verbosity=1).run(unittest.TestSuite(map(Scenario, files)))
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed or not result.testsRun else 0)


if __name__ == "__main__":
    main()
