#!/usr/bin/env python3
"""Measures Tafel and its peers, interleaved round by round, and writes one line of JSON per run.

    bench/rounds.py --bin build/release/bin --out build/bench/runs.jsonl [--quick] [--growth] [--rounds 5] [--secs 2]

A run is one server, started anew in an empty folder, and one load program. Within a round every system is measured at a
cell before the next cell comes, so that what disturbs the machine for a while disturbs all of them alike. The slow
systems take part in every other round. scripts/bench.sh calls this.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import servers  # noqa: E402

LOADS = [(1, 1), (1, 32), (8, 1), (8, 32), (64, 1), (64, 32)]  # agents, updates of each on their way
SUBSCRIBERS = [1, 8]
ELEMENTS = 1_000
GROWTH_LOADS = [(8, 1), (64, 32)]
GROWTH_ELEMENTS = [1_000, 100_000, 1_000_000]
EVERY_ROUND = {"tafel", "redis-lua", "redis-multi"}
MILLION = {"postgres"}  # of the others, those that are filled with a million elements in reasonable time

BUSY_CORES_MAX = 0.3   # of others, before a run and in it
BUSY_WAIT_S = 20
TRIES_MAX = 3
RUN_TIMEOUT_S = 300


def cell(agents, depth, subs, elements=ELEMENTS, spread=False):
    return {"agents": agents, "depth": depth, "subs": subs, "elements": elements, "spread": spread}


def main_cells():
    cells = [cell(agents, depth, subs) for subs in SUBSCRIBERS for agents, depth in LOADS]
    return cells + [cell(64, 32, 1, 1_000_000, spread=True)]


def growth_cells():
    cells = [cell(agents, depth, 1, elements) for agents, depth in GROWTH_LOADS for elements in GROWTH_ELEMENTS]
    return cells + [cell(agents, depth, 1, GROWTH_ELEMENTS[-1], spread=True) for agents, depth in GROWTH_LOADS]


def busy_cores(seconds=0.2):
    def used():
        with open("/proc/stat", encoding="ascii") as stat:
            fields = [int(field) for field in stat.readline().split()[1:]]
        return sum(fields[0:3]) + sum(fields[5:7])
    begin = used()
    time.sleep(seconds)
    return (used() - begin) / os.sysconf("SC_CLK_TCK") / seconds


def wait_for_a_quiet_machine():
    end = time.monotonic() + BUSY_WAIT_S
    while busy_cores() > BUSY_CORES_MAX and time.monotonic() < end:
        time.sleep(0.5)


def flushes(folder):
    """Flush requests that the disk of this folder has done; None where the kernel does not count them."""
    device = os.stat(folder).st_dev
    with open("/proc/diskstats", encoding="ascii") as stats:
        for line in stats:
            fields = line.split()
            if (int(fields[0]), int(fields[1])) == (os.major(device), os.minor(device)) and len(fields) >= 20:
                return int(fields[18])
    return None


def load_arguments(wanted, options):
    arguments = ["--json", "--secs", str(options.secs), "--warmup", str(options.warmup)]
    for name in ("agents", "depth", "subs", "elements"):
        arguments += [f"--{name}", str(wanted[name])]
    return arguments + (["--spread"] if wanted["spread"] else [])


def run_once(server, peer, wanted, options):
    wait_for_a_quiet_machine()
    server.start()
    try:
        before = flushes(options.work)
        command = [*server.load(peer), *load_arguments(wanted, options), "--server-pid", str(server.process.pid)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False)
        after = flushes(options.work)
    finally:
        server.stop()
    if not done.stdout.strip():
        raise servers.Unavailable(f"{peer}: {done.stderr.strip()[-500:]}")
    line = json.loads(done.stdout)
    if before is not None:
        line["flushes"] = after - before
    return line


def run(server, peer, wanted, options):
    """Again while others were busy; the best-undisturbed one is kept."""
    kept = None
    for tries in range(1, 2 if options.quick else TRIES_MAX + 1):
        line = run_once(server, peer, wanted, options)
        line["tries"] = tries
        if kept is None or line["other_cores"] < kept["other_cores"]:
            kept = line
        if kept["other_cores"] <= BUSY_CORES_MAX:
            break
    return kept


def machine(found, options):
    def first(path, key):
        with open(path, encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(key)), "?")
    mount = subprocess.run(["findmnt", "-no", "FSTYPE", "-T", str(options.work)], capture_output=True, text=True, check=False)
    return {"kind": "machine", "date": datetime.date.today().isoformat(), "cores": os.cpu_count(),
            "cpu": first("/proc/cpuinfo", "model name"), "memory": first("/proc/meminfo", "MemTotal"),
            "kernel": platform.release(), "file_system": mount.stdout.strip() or "?",
            "secs": options.secs, "warmup": options.warmup, "rounds": options.rounds,
            "servers": [{"name": server.name, "version": server.version, "settings": server.settings,
                         "peers": list(server.variants)} for server in found]}


def find_servers(options):
    found = []
    for kind in servers.SERVERS:
        if options.only and kind.name not in options.only:
            continue
        try:
            found.append(kind(options.bin, options.work))
        except servers.Unavailable as reason:
            print(f"rounds.py: {kind.name} is left out: {reason}", file=sys.stderr)
    return found


def takes_part(peer, kind, wanted, round_number):
    if peer in EVERY_ROUND:
        return True
    return kind == "cell" and round_number % 2 == 1 and (wanted["elements"] == ELEMENTS or peer in MILLION)


def measure(found, options, out):
    plan = [("cell", wanted) for wanted in main_cells()]
    if options.growth:
        plan = [("growth", wanted) for wanted in growth_cells()]
    failed = 0
    for round_number in range(1, options.rounds + 1):
        for kind, wanted in plan:
            for server in list(found):
                for peer in server.variants:
                    if not takes_part(peer, kind, wanted, round_number):
                        continue
                    try:
                        line = run(server, peer, wanted, options)
                    except (servers.Unavailable, subprocess.SubprocessError, OSError) as reason:
                        print(f"rounds.py: {peer}: {reason}", file=sys.stderr)
                        failed += peer == "tafel"
                        continue
                    failed += not line["checks"]["ok"]
                    line.update(kind=kind, round=round_number)
                    out.write(json.dumps(line) + "\n")
                    out.flush()
                    print(f"round {round_number} {peer} {wanted['agents']}x{wanted['depth']} subs {wanted['subs']} "
                          f"elements {wanted['elements']}{' spread' if wanted['spread'] else ''}: "
                          f"{line['updates_per_s']:.0f}/s{'' if line['checks']['ok'] else ' WRONG'}", file=sys.stderr)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, help="where tafeld and the load programs are")
    parser.add_argument("--out", required=True, help="file for the lines")
    parser.add_argument("--work", help="folder for the servers' data; it decides which disk is measured")
    parser.add_argument("--only", nargs="*", help="names of servers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--secs", type=float, default=2)
    parser.add_argument("--warmup", type=float, default=0.5)
    parser.add_argument("--quick", action="store_true", help="one round of 0.3 s, to see that everything works")
    parser.add_argument("--growth", action="store_true", help="growth curves instead of the cells")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.secs, options.warmup = 1, 0.3, 0.1
    pathlib.Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tafel-rounds-", dir=options.work) as work:
        os.chmod(work, 0o755)  # PostgreSQL runs as another user
        options.work = work
        found = find_servers(options)
        with open(options.out, "w", encoding="utf-8") as out:
            out.write(json.dumps(machine(found, options)) + "\n")
            failed = measure(found, options, out)
    print(f"rounds.py: {time.monotonic() - began:.0f} s, {failed} runs wrong or missing", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
