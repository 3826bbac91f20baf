#!/usr/bin/env bash
# The test command. Installs what it needs, builds, runs everything, and closes with "N passed, M failed".
#
#   scripts/test.sh           everything: layers; unit tests, scenarios of many processes and laws under the address and
#                             undefined sanitizers; broker and SDK under the thread sanitizer; fuzzing
#   scripts/test.sh --quick   layers, the fast tests on a build without optimisation, the vectors and a tenth of the laws
#   scripts/test.sh --nightly what takes too long for every change: the scenarios at their full size on a release build, ten
#                             times the laws, five minutes of fuzzing a target, the measurements of docs/benchmarks.md, and
#                             the instructions of a delta held against those noted
#
# In the sum a test program's case counts as one, and so does a fuzz target or a Python check. A stage that fails does
# not keep the others from running; a stage in which no test ran has failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

jobs=$(nproc)
python=/usr/bin/python3   # Debian's, which sees the Debian packages
fuzz_seconds=15
results=$(mktemp)         # one line "passed failed skipped" for each thing that the running stage ran
trap 'rm -f "$results"' EXIT
passed_total=0
failed_total=0
skipped_total=0

main() {
  case "${1:-}" in
    "")
      scripts/deps.sh --fuzz
      with_mappings_that_sanitizers_know "$@"
      stage "layers" python_check tests/layers_test.py
      stage "tests, address and undefined sanitizers" ctest_preset dev dev
      stage "laws, address and undefined sanitizers" laws dev 20000
      stage "scenarios, address and undefined sanitizers" ctest_preset dev scenarios
      stage "tests, thread sanitizer" ctest_preset tsan tsan
      stage "fuzzing" fuzz
      ;;
    --quick)
      scripts/deps.sh
      stage "layers" python_check tests/layers_test.py
      stage "fast tests" ctest_preset quick quick
      stage "laws" laws quick 2000
      ;;
    --nightly)
      scripts/deps.sh --fuzz
      with_mappings_that_sanitizers_know "$@"
      fuzz_seconds=300
      stage "scenarios, full size" full_scenarios
      stage "laws" laws release 200000
      stage "measurements" measurements
      stage "instructions a delta" instructions
      stage "fuzzing" fuzz
      ;;
    *)
      echo "usage: scripts/test.sh [--quick | --nightly]" >&2
      exit 2
      ;;
  esac
  summary
}

# --- stages ---------------------------------------------------------------------------------------------------------

ctest_preset() {  # BUILD_PRESET TEST_PRESET
  build "$1"
  local report=$PWD/build/$1/ctest.xml status=0
  rm -f "$report"
  ctest --preset "$2" --parallel "$jobs" --output-junit "$report" || status=$?
  count_junit "$report"
  return "$status"
}

fuzz() {
  build fuzz
  local source target status=0
  ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-14)
  export ASAN_SYMBOLIZER_PATH
  for source in tests/fuzz/fuzz_*.cpp; do
    target=$(basename "$source" .cpp)
    if fuzz_target "$target"; then count 1 0 0; else count 0 1 0; status=1; fi
  done
  return "$status"
}

laws() {  # PRESET HISTORIES
  build "$1" --target tafel_replay
  local status=0
  python_check tests/laws/check_vectors.py --implementation "build/$1/bin/tafel_replay" || status=1
  python_check tests/laws/laws.py --implementation "build/$1/bin/tafel_replay" --histories "$2" || status=1
  return "$status"
}

full_scenarios() {
  build release
  local scenario status=0
  for scenario in backup concurrency deletion followers; do
    python_check "tests/scenarios/${scenario}_test.py" --bin build/release/bin || status=1
  done
  return "$status"
}

measurements() {
  build release
  local folder program status=0
  folder=$(mktemp -d)
  for program in history size; do
    if "build/release/bin/tafel_${program}_bench" --data "$folder/$program"; then count 1 0 0; else count 0 1 0; status=1; fi
  done
  rm -rf "$folder"
  return "$status"
}

instructions() {
  scripts/deps.sh --with valgrind
  build release --target tafel_stages_bench
  local status=0
  "$python" bench/instructions.py --bin build/release/bin --check bench/instructions.json || status=1
  if ((status == 0)); then count 1 0 0; else count 0 1 0; fi
  return "$status"
}

python_check() {  # SCRIPT ARGUMENTS...: a script says how much it checked: "N passed, 0 failed", "N cases, 0 failed"
  local output status=0
  output=$(mktemp)
  timeout 1800 "$python" "$@" 2>&1 | tee "$output" || status=1
  if ((status == 0)) && ! grep -qE '\b[1-9][0-9]* [a-z]+, 0 failed' "$output"; then
    echo "$1: ended well, but without a line \"N passed, 0 failed\", N above 0"
    status=1
  fi
  rm -f "$output"
  if ((status == 0)); then count 1 0 0; else count 0 1 0; fi
  return "$status"
}

# --- parts of stages ------------------------------------------------------------------------------------------------

build() {  # PRESET BUILD_ARGUMENTS...
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1" --parallel "$jobs" "${@:2}" -- --quiet
}

fuzz_target() {  # NAME: replays tests/fuzz/corpus/NAME, then searches on from there; what it finds stays in build/
  local found=build/fuzz/corpus/$1 log=build/fuzz/$1.log
  mkdir -p "$found"
  echo "$1: $(find "tests/fuzz/corpus/$1" -type f | wc -l) inputs, then $fuzz_seconds s"
  "build/fuzz/bin/$1" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$1-" "$found" "tests/fuzz/corpus/$1" >"$log" 2>&1 ||
    { grep -E -A 25 -m 1 'ERROR|runtime error' "$log"; echo "$1 failed; the whole report is $log"; return 1; }
  grep -E 'number_of_executed_units' "$log"
}

# gcc 12's and clang 14's sanitizers stop at start-up where the kernel spreads mappings over more than 28 bits.
with_mappings_that_sanitizers_know() {
  local bits
  bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)
  if ((bits > 28)) && [[ -z ${TAFEL_FIXED_MAPPINGS:-} ]] && setarch "$(uname -m)" -R true 2>/dev/null; then
    rm -f "$results"
    TAFEL_FIXED_MAPPINGS=1 exec setarch "$(uname -m)" -R scripts/test.sh "$@"
  fi
}

# --- counting -------------------------------------------------------------------------------------------------------

count() {  # PASSED FAILED SKIPPED
  echo "$1 $2 $3" >>"$results"
}

count_junit() {  # FILE
  local tests failures skipped disabled
  tests=$(junit_attribute tests "$1")
  failures=$(junit_attribute failures "$1")
  skipped=$(junit_attribute skipped "$1")
  disabled=$(junit_attribute disabled "$1")
  count $((tests - failures - skipped - disabled)) "$failures" $((skipped + disabled))
}

junit_attribute() {  # NAME FILE: of the file's first testsuite; 0 when there is none
  local number=0
  if [[ -f $2 ]]; then number=$(grep -oE "\b$1=\"[0-9]+\"" "$2" | head -n 1 | tr -dc 0-9); fi
  echo "${number:-0}"
}

stage() {  # NAME FUNCTION ARGUMENTS...
  local name=$1 started=$SECONDS status verdict=ok passed failed skipped
  shift
  echo
  echo "=== $name"
  : >"$results"
  set +e   # a subshell of its own, so that the first error ends the stage and not the script
  (set -e; "$@")
  status=$?
  set -e
  read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$results")
  if ((status != 0 && failed == 0)); then
    failed=1
  elif ((passed + failed == 0)); then
    echo "$name: no test ran"
    failed=1
  fi
  if ((failed > 0)); then verdict=FAILED; fi
  passed_total=$((passed_total + passed))
  failed_total=$((failed_total + failed))
  skipped_total=$((skipped_total + skipped))
  echo "=== $name: $verdict, $passed passed, $failed failed, $skipped skipped, $((SECONDS - started)) s"
}

summary() {
  local skipped=""
  if ((skipped_total > 0)); then skipped=", $skipped_total skipped"; fi
  echo
  echo "$passed_total passed, $failed_total failed$skipped"
  ((failed_total == 0))
}

main "$@"
