#!/usr/bin/env bash
# Measures Tafel and, on the same machine in the same rounds, other systems that are made to do the same work. Installs what
# that needs, builds release, starts and stops each server on loopback in a temporary folder with durable settings.
#
#   scripts/bench.sh              five rounds of all cells, less than 30 minutes; writes docs/benchmarks.md and its charts
#   scripts/bench.sh --growth     how it goes on as a board grows to a million elements; likewise
#   scripts/bench.sh --quick      one round of 0.3 s, to see that everything works; prints, and leaves the docs as they are
#   … --work FOLDER               where the servers keep their data: this disk is measured (default: the one of /var/tmp)
#
# Exits with 1 when a run was missing or wrong. Let nothing else run meanwhile. bench/rounds.py has the cells and rounds,
# bench/servers.py the settings of each system, bench/report.py the tables.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Servers and client libraries of the peers; nothing else needs them.
packages=(redis-server libhiredis-dev postgresql-15 libpq-dev nats-server e2fsprogs util-linux
  etcd-server libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc)
python=/usr/bin/python3
work=/var/tmp
kind=cells
arguments=()

while (($# > 0)); do
  case $1 in
    --growth)
      kind=growth
      arguments+=(--growth)
      ;;
    --quick) arguments+=(--quick) ;;
    --work)
      work=${2:?--work wants a folder}
      mkdir -p "$work"
      shift
      ;;
    *)
      echo "usage: scripts/bench.sh [--growth] [--quick] [--work FOLDER]" >&2
      exit 2
      ;;
  esac
  shift
done
is_quick=false
if [[ " ${arguments[*]} " == *" --quick "* ]]; then is_quick=true; fi

scripts/deps.sh --with "${packages[@]}"
cmake --preset release -DTAFEL_PEERS=ON >/dev/null
cmake --build --preset release --target tafeld tafel_bench tafel_peer_bench -- --quiet >&2

export PYTHONDONTWRITEBYTECODE=1
runs=build/bench/$kind.jsonl
if $is_quick; then runs=build/bench/quick-$kind.jsonl; fi
status=0
"$python" bench/rounds.py --bin build/release/bin --out "$runs" --work "$work" "${arguments[@]}" || status=$?
if $is_quick; then
  "$python" bench/report.py "$runs"
else
  files=()
  for file in build/bench/cells.jsonl build/bench/growth.jsonl; do
    if [[ -f $file ]]; then files+=("$file"); fi
  done
  "$python" bench/report.py "${files[@]}" --page docs/benchmarks.md --charts docs/benchmarks
fi
exit "$status"
