#!/usr/bin/env python3
"""Turns the lines of bench/rounds.py into tables and charts.

    bench/report.py RUNS.jsonl...                                   tables to the standard output
    bench/report.py RUNS.jsonl... --page docs/benchmarks.md         tables into the page, between its markers,
                                  --charts docs/benchmarks          charts as SVG into the folder

A cell of a table is the median over the rounds, with the smallest and the largest. A ratio is taken within a round, Tafel
over the best peer of that cell in that round, and then the median of the ratios: what slows the whole machine down for a
while does not move it.
"""
import argparse
import collections
import json
import pathlib
import re
import statistics
import sys

OURS = "tafel"
COLOURS = {"tafel": "#1b6ca8", "redis-lua": "#d1495b", "redis-multi": "#edae49", "postgres": "#66a182", "nats": "#8d6a9f",
           "etcd": "#555555"}
OTHER_COLOUR = "#777777"
PARTLY = {"nats"}  # does less than the work, so it is no peer to be compared with

NOTES = """\
- Redis loses nothing that it has answered, but keeps all in memory, and merges nothing: the last writer of a field wins, no writer's sight is
  compared with another's. `redis-multi` cannot tell subscribers the version of a change, since the number that INCR gives is not known
  inside MULTI; its order is therefore not checked, only that every change arrives once at each. A subscriber that is away misses
  what is published meanwhile.
- PostgreSQL's NOTIFY takes one lock of the whole database at commit, flush included, so there is no group commit; a listener that is away
  misses what is notified.
- NATS keeps a log and no state: no set, no field. It is shown for scale and no ratio is taken to it.
- None of them judges an update by what its writer had seen, keeps suggestions or conflicts, chains its log or computes a digest. Tafel does
  all of it in these figures.
- etcd flushes its log for each batch of raft, but costs an order of magnitude more processor time; a Txn of a gRPC client is its shortest way.
- Agents, subscribers and server share the machine's cores, so at 64 x 32 a latency is queueing: what is on its way over the rate.
- Load programs are lean: one thread for all agents, one for all subscribers, each system's wire form written and read directly (hiredis and libpq
  for Redis and PostgreSQL). A program that uses the SDK pays more on its own side.
"""


# --- reading ---------------------------------------------------------------------------------------------------------

def read_lines(paths):
    """The machine's line (of the first file) and all runs."""
    machine, runs = None, []
    for path in paths:
        for text in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
            if not text.strip():
                continue
            line = json.loads(text)
            if line.get("kind") == "machine":
                machine = machine or line
            else:
                runs.append(line)
    return machine, runs


def cell_of(run):
    return (run["agents"], run["depth"], run["subs"], run["elements"], run["spread"])


def cell_order(cell):
    agents, depth, subs, elements, spread = cell
    return (elements, spread, subs, depth, agents)


def cells_in(runs):
    return sorted({cell_of(run) for run in runs}, key=cell_order)


def peers_in(runs):
    known = list(COLOURS)
    return sorted({run["peer"] for run in runs}, key=lambda peer: (known.index(peer) if peer in known else len(known), peer))


def values(runs, peer, cell, member):
    return [run[member] for run in runs
            if run["peer"] == peer and cell_of(run) == cell and run["checks"]["ok"] and run.get(member) is not None]


# --- numbers ---------------------------------------------------------------------------------------------------------

Spread = collections.namedtuple("Spread", "median smallest largest")


def spread_of(numbers):
    return Spread(statistics.median(numbers), min(numbers), max(numbers)) if numbers else None


def ratios(runs, cell, member="updates_per_s"):
    """Ours over the best peer, one for each round in which both were measured."""
    by_round = collections.defaultdict(dict)
    for run in runs:
        if cell_of(run) == cell and run["checks"]["ok"]:
            by_round[run["round"]][run["peer"]] = run[member]
    found = []
    for rates in by_round.values():
        peers = [rate for peer, rate in rates.items() if peer != OURS and peer not in PARTLY]
        if OURS in rates and peers and max(peers) > 0:
            found.append(rates[OURS] / max(peers))
    return found


def rate(number):
    return f"{number:,.0f}"


def shown(spread, text):
    if spread is None:
        return ""
    if spread.smallest == spread.largest:
        return text(spread.median)
    return f"{text(spread.median)} ({text(spread.smallest)}–{text(spread.largest)})"


# --- tables ----------------------------------------------------------------------------------------------------------

def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def cell_words(cell):
    agents, depth, subs, elements, spread = cell
    return [f"{agents} x {depth}", str(subs), f"{elements:,}" + (", spread" if spread else "")]


CELL_HEAD = ["agents x in flight", "subscribers", "elements"]


def rate_table(runs):
    peers = peers_in(runs)
    rows = []
    for cell in cells_in(runs):
        row = cell_words(cell)
        row += [shown(spread_of(values(runs, peer, cell, "updates_per_s")), rate) for peer in peers]
        row.append(shown(spread_of(ratios(runs, cell)), "{:.2f}".format))
        rows.append(row)
    return table([*CELL_HEAD, *peers, "tafel / best peer"], rows)


def latency_table(runs, who):
    peers = peers_in(runs)
    rows = []
    for cell in cells_in(runs):
        row = cell_words(cell)
        for peer in peers:
            middle = spread_of(values(runs, peer, cell, f"{who}_p50_us"))
            high = spread_of(values(runs, peer, cell, f"{who}_p99_us"))
            row.append("" if middle is None or high is None else f"{middle.median / 1e3:.2f} / {high.median / 1e3:.2f}")
        rows.append(row)
    return table([*CELL_HEAD, *peers], rows)


def cpu_table(runs):
    peers = peers_in(runs)
    rows = []
    for cell in cells_in(runs):
        row = cell_words(cell)
        for peer in peers:
            server = spread_of(values(runs, peer, cell, "server_cpu_us_per_delta"))
            load = spread_of(values(runs, peer, cell, "load_cpu_us_per_delta"))
            row.append("" if server is None or load is None else f"{server.median:.1f} + {load.median:.1f}")
        rows.append(row)
    return table([*CELL_HEAD, *peers], rows)


def updates_per_flush(runs, peer, cell):
    return spread_of([run["checks"]["receipts"] / run["flushes"] for run in runs
                      if run["peer"] == peer and cell_of(run) == cell and run["checks"]["ok"] and run.get("flushes")])


def flush_table(runs):
    peers = peers_in(runs)
    rows = []
    for cell in cells_in(runs):
        found = [updates_per_flush(runs, peer, cell) for peer in peers]
        rows.append(cell_words(cell) + ["" if one is None else f"{one.median:.1f}" for one in found])
    return table([*CELL_HEAD, *peers], rows)


def machine_words(machine, runs):
    if machine is None:
        return ""
    lines = [f"Measured {machine['date']} on {machine['cores']} cores ({machine['cpu']}), {machine['memory']} of memory, "
             f"{machine['file_system']}, Linux {machine['kernel']}; server and load on the same machine, loopback. "
             f"{machine['rounds']} rounds, windows of {machine['secs']:g} s after {machine['warmup']:g} s, a fresh server "
             "and an empty folder for each run.", "",
             table(["system", "version", "set-up"],
                   [[server["name"], server["version"], server["settings"]] for server in machine["servers"]])]
    wrong = sum(not run["checks"]["ok"] for run in runs)
    others = [run["other_cores"] for run in runs]
    lines.append(f"{len(runs)} runs; {wrong} of them failed a check and are left out. Cores busy with neither server nor load, "
                 f"which includes the kernel's own threads: median {statistics.median(others):.2f}, most {max(others):.2f}. "
                 f"{noise_words(runs)}")
    return "\n".join(lines) + "\n"


def noise_words(runs):
    widths = []
    for cell in cells_in(runs):
        for peer in peers_in(runs):
            spread = spread_of(values(runs, peer, cell, "updates_per_s"))
            if spread is not None and spread.smallest > 0 and spread.largest != spread.smallest:
                widths.append(spread.largest / spread.smallest)
    if not widths:
        return "Each figure is one run."
    return (f"Largest over smallest round of one figure: median {statistics.median(widths):.2f}, worst {max(widths):.2f}; "
            "differences between columns that are smaller than this are noise.")


def charts_words(names, folder_name):
    return "\n".join(f"![{title}]({folder_name}/{name})" for name, title in names)


def page(machine, runs, chart_names=(), folder_name="benchmarks"):
    cells = [run for run in runs if run["kind"] == "cell"]
    growth = [run for run in runs if run["kind"] == "growth"]
    parts = [machine_words(machine, runs)]
    if chart_names:
        parts.append(charts_words(chart_names, folder_name) + "\n")
    for title, some in (("", cells), ("Growth: ", growth)):
        if not some:
            continue
        parts += [f"### {title}Committed updates per second: median (smallest–largest)\n", rate_table(some),
                  f"### {title}Time to the ack, p50 / p99, ms\n", latency_table(some, "ack"),
                  f"### {title}Time to the last subscriber, p50 / p99, ms\n", latency_table(some, "sub"),
                  f"### {title}Processor time of an update, server + load, µs\n", cpu_table(some)]
        if any(run.get("flushes") for run in some):
            parts += [f"### {title}Updates for each flush of the disk, counted at the block device over the whole run\n",
                      flush_table(some)]
    parts += ["### What to know when reading them\n", NOTES]
    return "\n".join(parts)


BEGIN, END = "<!-- peers: begin, written by bench/report.py -->", "<!-- peers: end -->"


def put_between_markers(text, part):
    found = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    if not found.search(text):
        raise ValueError(f"no markers {BEGIN} … {END}")
    return found.sub(lambda _: f"{BEGIN}\n{part}\n{END}", text)


# --- charts ----------------------------------------------------------------------------------------------------------

WIDTH, LEFT, TOP, BAR, GAP = 860, 230, 46, 13, 14
TEXT = 'font-family="sans-serif" font-size="12"'
SMALL = 'font-family="sans-serif" font-size="10"'


def colour(peer):
    return COLOURS.get(peer, OTHER_COLOUR)


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def svg(height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">\n'
            f'<title>{escaped(title)}</title>\n<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
            f'<text x="12" y="20" {TEXT} font-weight="bold">{escaped(title)}</text>\n' + "\n".join(body) + "\n</svg>\n")


def legend(names, y):
    body, x = [], 12
    for name in names:
        body.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour(name)}"/>')
        body.append(f'<text x="{x + 15}" y="{y}" {TEXT}>{escaped(name)}</text>')
        x += 30 + 8 * len(name)
    return body


def bar_chart(title, groups, text):
    """`groups`: [(label, [(peer, number)])]. Lengths are relative to the largest of the group, which a linear scale over
    all groups would make invisible in most."""
    peers = list(dict.fromkeys(peer for _, bars in groups for peer, _ in bars))
    body, y = legend(peers, 38), TOP + 10
    for label, bars in groups:
        largest = max((number for _, number in bars), default=0)
        middle = y + len(bars) * BAR / 2 + 4
        body.append(f'<text x="{LEFT - 8}" y="{middle:.0f}" {TEXT} text-anchor="end">{escaped(label)}</text>')
        for peer, number in bars:
            length = 0 if largest == 0 else (WIDTH - LEFT - 110) * number / largest
            body.append(f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 2}" fill="{colour(peer)}"/>')
            body.append(f'<text x="{LEFT + length + 5:.1f}" y="{y + BAR - 3}" {SMALL}>{escaped(text(number))}</text>')
            y += BAR
        y += GAP
    return svg(y + 6, title, body)


def ratio_chart(title, groups):
    """`groups`: [(label, spread)]: a dot with its range, and a line at 1."""
    largest = max([spread.largest for _, spread in groups] + [1.0]) * 1.05
    def place(number):
        return LEFT + (WIDTH - LEFT - 40) * number / largest
    bottom = TOP + 24 * len(groups)
    body = [f'<line x1="{place(1):.1f}" y1="{TOP - 12}" x2="{place(1):.1f}" y2="{bottom}" stroke="#999999"/>',
            f'<text x="{place(1):.1f}" y="{bottom + 14}" {TEXT} text-anchor="middle">1 = best peer</text>']
    for index, (label, spread) in enumerate(groups):
        y = TOP + 24 * index
        body += [f'<text x="{LEFT - 8}" y="{y + 4}" {TEXT} text-anchor="end">{escaped(label)}</text>',
                 f'<line x1="{place(spread.smallest):.1f}" y1="{y}" x2="{place(spread.largest):.1f}" y2="{y}" '
                 f'stroke="{colour(OURS)}" stroke-width="2"/>',
                 f'<circle cx="{place(spread.median):.1f}" cy="{y}" r="5" fill="{colour(OURS)}"/>',
                 f'<text x="{place(spread.largest) + 7:.1f}" y="{y + 4}" {SMALL}>{spread.median:.2f}</text>']
    return svg(bottom + 24, title, body)


def curve_chart(title, panels, text):
    """`panels`: [(label, [elements], {peer: [number for each of them, or None]})], side by side; a step of x is a larger board."""
    peers = list(dict.fromkeys(peer for _, _, lines in panels for peer in lines))
    height, high, low = 330, TOP + 40, 280
    width = (WIDTH - 60) / max(len(panels), 1)
    body = legend(peers, 38)
    for index, (label, steps, lines) in enumerate(panels):
        left, right = 60 + width * index, 60 + width * (index + 1) - 100
        largest = max((number for line in lines.values() for number in line if number is not None), default=0) or 1
        def x_of(step, left=left, right=right, count=len(steps)):
            return left + (right - left) * step / max(count - 1, 1)
        def y_of(number, largest=largest):
            return low - (low - high) * number / largest
        body += [f'<text x="{left:.0f}" y="{high - 14}" {TEXT}>{escaped(label)}</text>',
                 f'<line x1="{left:.0f}" y1="{low}" x2="{right:.0f}" y2="{low}" stroke="#999999"/>',
                 f'<line x1="{left:.0f}" y1="{high}" x2="{left:.0f}" y2="{low}" stroke="#999999"/>',
                 f'<text x="{left - 5:.0f}" y="{high + 4}" {SMALL} text-anchor="end">{escaped(text(largest))}</text>',
                 f'<text x="{left - 5:.0f}" y="{low + 4}" {SMALL} text-anchor="end">0</text>']
        for step, name in enumerate(steps):
            body.append(f'<text x="{x_of(step):.0f}" y="{low + 16}" {SMALL} text-anchor="middle">{escaped(name)}</text>')
        for peer, line in lines.items():
            points = [(x_of(step), y_of(number)) for step, number in enumerate(line) if number is not None]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            body.append(f'<polyline points="{path}" fill="none" stroke="{colour(peer)}" stroke-width="2"/>')
            body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour(peer)}"/>' for x, y in points]
    return svg(height, title, body)


def growth_panels(runs):
    panels = []
    for agents, depth in sorted({(run["agents"], run["depth"]) for run in runs}, key=lambda load: load[1]):
        cells = [cell for cell in cells_in(runs) if cell[:2] == (agents, depth)]
        steps = [f"{cell[3]:,}" + (" spread" if cell[4] else "") for cell in cells]
        lines = {}
        for peer in peers_in(runs):
            spreads = [spread_of(values(runs, peer, cell, "updates_per_s")) for cell in cells]
            lines[peer] = [None if spread is None else spread.median for spread in spreads]
        panels.append((f"{agents} x {depth}", steps, lines))
    return panels


def cell_label(cell):
    agents, depth, subs, elements, spread = cell
    label = f"{agents} x {depth}, {subs} sub" + ("s" if subs != 1 else "")
    return label + (f", {elements:,}" if elements != 1000 else "") + (" spread" if spread else "")


def rate_groups(runs):
    groups = []
    for cell in cells_in(runs):
        bars = [(peer, spread_of(values(runs, peer, cell, "updates_per_s"))) for peer in peers_in(runs)]
        groups.append((cell_label(cell), [(peer, spread.median) for peer, spread in bars if spread is not None]))
    return groups


def charts(runs):
    """{file name: (title, SVG)}"""
    found = {}
    for kind, prefix in (("cell", ""), ("growth", "growth-")):
        some = [run for run in runs if run["kind"] == kind]
        if not some:
            continue
        about = " as the board grows" if prefix else ""
        if prefix:
            title = "Committed updates per second by elements on the board, median"
            found["growth.svg"] = (title, curve_chart(title, growth_panels(some), rate))
        else:
            title = "Committed updates per second, median; bars relative to the best of each row"
            found["updates.svg"] = (title, bar_chart(title, rate_groups(some), rate))
        compared = [(cell_label(cell), spread_of(ratios(some, cell))) for cell in cells_in(some)]
        compared = [(label, spread) for label, spread in compared if spread is not None]
        if compared:
            title = f"Tafel over the best peer{about}, in the same round: median and range"
            found[f"{prefix}ratio.svg"] = (title, ratio_chart(title, compared))
    return found


# --- the command -----------------------------------------------------------------------------------------------------

def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", help="files of bench/rounds.py")
    parser.add_argument("--page", help="write into this page, between its markers")
    parser.add_argument("--charts", help="folder for the charts")
    options = parser.parse_args(arguments)
    machine, runs = read_lines(options.runs)
    if not runs:
        print("report.py: no runs", file=sys.stderr)
        return 1
    made = charts(runs) if options.charts else {}
    for name, (_, text) in made.items():
        folder = pathlib.Path(options.charts)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    names = [(name, title) for name, (title, _) in made.items()]
    part = page(machine, runs, names, pathlib.Path(options.charts).name if options.charts else "benchmarks")
    if options.page is None:
        print(part)
        return 0
    target = pathlib.Path(options.page)
    target.write_text(put_between_markers(target.read_text(encoding="utf-8"), part), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
