#!/usr/bin/env python3
"""bench/report.py on lines made by hand: what is the median, what is a ratio, what is left out, where the tables go."""
import json
import pathlib
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))
import report  # noqa: E402


def run(peer, updates, number=1, ok=True, kind="cell", **other):
    line = {"kind": kind, "peer": peer, "round": number, "agents": 8, "depth": 32, "subs": 1, "elements": 1000,
            "spread": False, "updates_per_s": updates, "ack_p50_us": 1500.0, "ack_p99_us": 2500.0, "sub_p50_us": 1600.0,
            "sub_p99_us": 2600.0, "server_cpu_us_per_delta": 4.0, "load_cpu_us_per_delta": 1.0, "other_cores": 0.05,
            "checks": {"ok": ok, "receipts": 1000}}
    line.update(other)
    return line


CELL = (8, 32, 1, 1000, False)
MACHINE = {"kind": "machine", "date": "2026-01-02", "cores": 2, "cpu": "a processor", "memory": "1 kB", "kernel": "6",
           "file_system": "ext4", "secs": 2, "warmup": 0.5, "rounds": 3,
           "servers": [{"name": "redis", "version": "7.0.15", "settings": "durable", "peers": ["redis-lua"]}]}


class Numbers(unittest.TestCase):
    def test_a_ratio_is_taken_within_a_round(self):
        runs = [run("tafel", 300, 1), run("redis-lua", 100, 1), run("redis-multi", 150, 1),
                run("tafel", 30, 2), run("redis-lua", 10, 2)]  # the machine was slow
        self.assertEqual(report.ratios(runs, CELL), [2.0, 3.0])

    def test_what_does_less_than_the_work_is_no_best_peer(self):
        self.assertEqual(report.ratios([run("tafel", 300), run("redis-lua", 100), run("nats", 900)], CELL), [3.0])

    def test_no_ratio_without_both(self):
        self.assertEqual(report.ratios([run("tafel", 300, 1), run("redis-lua", 100, 2)], CELL), [])

    def test_runs_that_failed_a_check_are_left_out(self):
        runs = [run("tafel", 300, 1), run("tafel", 999999, 2, ok=False), run("redis-lua", 100, 2)]
        self.assertEqual(report.values(runs, "tafel", CELL, "updates_per_s"), [300])
        self.assertEqual(report.ratios(runs, CELL), [])

    def test_median_with_range(self):
        spread = report.spread_of([5, 1, 3])
        self.assertEqual(report.shown(spread, report.rate), "3 (1–5)")
        self.assertEqual(report.shown(report.spread_of([1234]), report.rate), "1,234")
        self.assertEqual(report.shown(None, report.rate), "")


class Page(unittest.TestCase):
    def test_tables_have_every_peer_and_the_ratio(self):
        text = report.rate_table([run("tafel", 2000), run("redis-lua", 1000)])
        self.assertIn("| 8 x 32 | 1 | 1,000 | 2,000 | 1,000 | 2.00 |", text)
        self.assertIn("| 8 x 32 | 1 | 1,000 | 1.50 / 2.50 |", report.latency_table([run("tafel", 2000)], "ack"))

    def test_without_subscribers_there_is_no_time_to_them(self):
        text = report.latency_table([run("tafel", 2000, sub_p50_us=None, sub_p99_us=None)], "sub")
        self.assertIn("| 8 x 32 | 1 | 1,000 |  |", text)

    def test_updates_for_each_flush(self):
        self.assertIn("| 20.0 |", report.flush_table([run("tafel", 2000, flushes=50)]))

    def test_only_what_stands_between_the_markers_changes(self):
        text = f"before\n{report.BEGIN}\nold\n{report.END}\nafter \\1\n"
        self.assertEqual(report.put_between_markers(text, "new \\g<0>"),
                         f"before\n{report.BEGIN}\nnew \\g<0>\n{report.END}\nafter \\1\n")
        with self.assertRaises(ValueError):
            report.put_between_markers("no markers", "new")

    def test_from_files_to_page_and_charts(self):
        runs = [run(peer, rate, number, kind=kind) for kind in ("cell", "growth") for number in (1, 2, 3)
                for peer, rate in (("tafel", 3000), ("redis-lua", 1000), ("nats", 10))]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "runs.jsonl").write_text("\n".join(json.dumps(line) for line in [MACHINE, *runs]))
            (folder / "page.md").write_text(f"# Title\n{report.BEGIN}\n{report.END}\n")
            code = report.main([str(folder / "runs.jsonl"), "--page", str(folder / "page.md"), "--charts",
                                str(folder / "charts")])
            self.assertEqual(code, 0)
            page = (folder / "page.md").read_text()
            self.assertIn("| redis | 7.0.15 | durable |", page)
            self.assertIn("(charts/updates.svg)", page)
            names = sorted(path.name for path in (folder / "charts").iterdir())
            self.assertEqual(names, ["growth-ratio.svg", "growth.svg", "ratio.svg", "updates.svg"])
            for path in (folder / "charts").iterdir():
                xml.dom.minidom.parse(str(path))

    def test_no_runs_is_an_error(self):
        with tempfile.TemporaryDirectory() as name:
            empty = pathlib.Path(name) / "runs.jsonl"
            empty.write_text(json.dumps(MACHINE))
            self.assertEqual(report.main([str(empty)]), 1)


if __name__ == "__main__":
    unittest.main()
