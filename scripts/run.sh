#!/usr/bin/env bash
# Builds the server, the command-line tool and the demo, then runs the demo, which starts a server of its own.
# Options go to the demo: scripts/run.sh --help lists them. File names are relative to where you are.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$repo/scripts/deps.sh"
(
  cd "$repo"
  cmake --preset release
  cmake --build --preset release --target tafeld tafel tafel_demo
) >&2
exec "$repo/build/release/bin/tafel_demo" "$@"
