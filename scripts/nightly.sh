#!/usr/bin/env bash
# What takes too long for every change: the scenarios at their full size on a release build, more random histories, longer
# fuzzing, and the measurements of docs/benchmarks.md. About two hours on two cores; closes with what failed.
#
#   scripts/nightly.sh [FOLDER]    where the benchmarks make their boards (a temporary folder, removed at the end)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=/usr/bin/python3
fuzz_seconds=300
failed=()
folder=${1:-$(mktemp -d)}
if (($# == 0)); then trap 'rm -rf "$folder"' EXIT; fi

run() {  # NAME COMMAND...
  echo
  echo "=== $1"
  "${@:2}" || failed+=("$1")
}

build() {  # PRESET
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1" --parallel "$(nproc)" -- --quiet
}

fuzz() {  # TARGET
  mkdir -p "build/fuzz/corpus/$1"
  "build/fuzz/bin/$1" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="build/fuzz/$1-" \
    "build/fuzz/corpus/$1" "tests/fuzz/corpus/$1" >"build/fuzz/$1.log" 2>&1 || { tail -40 "build/fuzz/$1.log"; return 1; }
}

scripts/deps.sh --fuzz
build release
for scenario in backup concurrency deletion followers; do
  run "$scenario" "$python" "tests/scenarios/${scenario}_test.py" --bin build/release/bin
done
run laws "$python" tests/laws/laws.py --implementation build/release/bin/tafel_replay --histories 200000
run "cost of history" build/release/bin/tafel_history_bench --data "$folder/history"
run "size of the file" build/release/bin/tafel_size_bench --data "$folder/size"
build fuzz
for source in tests/fuzz/fuzz_*.cpp; do
  target=$(basename "$source" .cpp)
  run "$target" fuzz "$target"
done

echo
if ((${#failed[@]} > 0)); then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
echo "all passed"
