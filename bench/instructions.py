#!/usr/bin/env python3
"""How many instructions one delta costs, by stage: tafel_stages_bench under callgrind, twice, so that what comes before
the deltas falls out. The same program gives the same counts, whatever else the machine does.

    bench/instructions.py --bin build/release/bin                 prints the table
    bench/instructions.py --bin … --check bench/instructions.json  and fails where a stage costs over 5 % more than noted
    bench/instructions.py --bin … --note bench/instructions.json   notes the counts

callgrind has no SHA instructions, so hashing counts about five times what it costs a processor that has them; it is
told apart. A stage counts what it calls.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FEW, MANY = 1000, 3000
TOLERANCE = 1.05
STAGES = {
    "decode messages": r"tafel::codec::decode_message\(",
    "read deltas": r"tafel::codec::delta_from_value\(",
    "judge": r"tafel::conflict::judge\(",
    "place changes": r"tafel::store::write_changes\(tafel::store::RecordCache",
    "seal events": r"tafel::blackboard::seal\(",
    "look up receipts": r"tafel::store::find_receipt\(",
    "remember receipts": r"tafel::store::remember_receipt\(",
    "write cells back": r"tafel::store::RecordCache::write_back\(",
    "answer": r"tafel::broker::ReceiptWriter::(add|finish)\(",
    "encode for the feed": r"tafel::codec::encode_feed_event",
    "the commit thread, all in all": r"tafel::broker::RequestService::handle\(",
    "of all, hashing": r"tafel::sha256\([^)]*\)",
}
LINE = re.compile(r"^\s*([\d,]+) \(\s*[\d.]+%\)\s+(\S.*)$")


def counts(program: pathlib.Path, deltas: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", str(program)]
        subprocess.run([*command, "--deltas", str(deltas), "--batch", "500"], check=True, capture_output=True)
        listed = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(out)], check=True,
                                capture_output=True, text=True).stdout
    found = dict.fromkeys(STAGES, 0)
    seen = set()
    for line in listed.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        for stage, pattern in STAGES.items():
            name = re.search(pattern, match[2])
            # A function stands once for each file that parts of it were inlined from: the first line has all of it.
            if name and (stage, name[0]) not in seen:
                seen.add((stage, name[0]))
                found[stage] += int(match[1].replace(",", ""))
    return found


def per_delta(program: pathlib.Path) -> dict[str, int]:
    few, many = counts(program, FEW), counts(program, MANY)
    return {stage: round((many[stage] - few[stage]) / (MANY - FEW)) for stage in STAGES}


def main() -> int:
    parser = argparse.ArgumentParser(description="Instructions per delta, by stage.")
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of tafel_stages_bench")
    parser.add_argument("--check", type=pathlib.Path, help="noted counts, which are not to be exceeded")
    parser.add_argument("--note", type=pathlib.Path, help="where to note the counts")
    given = parser.parse_args()
    found = per_delta(given.bin / "tafel_stages_bench")
    noted = json.loads(given.check.read_text(encoding="utf-8")) if given.check else {}
    worse = [stage for stage, count in noted.items() if found.get(stage, 0) > count * TOLERANCE]
    missing = [stage for stage, count in found.items() if count == 0]
    print("| stage | instructions a delta |\n|---|---|")
    for stage, count in found.items():
        print(f"| {stage} | {count:,} |")
    for stage in worse:
        print(f"{stage}: {found.get(stage, 0):,}, noted are {noted[stage]:,}", file=sys.stderr)
    for stage in missing:
        print(f"{stage}: not found in the profile: is the function still called so?", file=sys.stderr)
    if given.note:
        given.note.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 1 if worse or missing else 0


if __name__ == "__main__":
    sys.exit(main())
