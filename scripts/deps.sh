#!/usr/bin/env bash
# Installs the Debian 12 packages that the project is built and tested with. Does nothing when all are there.
#
#   scripts/deps.sh           to build, run and test
#   scripts/deps.sh --fuzz    also clang 14: libFuzzer, clang-tidy, clang-format (--dev is the same)
#   scripts/deps.sh --with PACKAGE...    also these
set -euo pipefail

packages=(
  cmake ninja-build g++ ccache pkg-config
  libzmq3-dev cppzmq-dev libmsgpack-cxx-dev liblmdb-dev libboost-program-options-dev nlohmann-json3-dev
  libspdlog-dev libfmt-dev libexpected-dev libxxhash-dev libssl-dev libre2-dev libutf8proc-dev
  libgtest-dev python3 python3-zmq python3-msgpack python3-jsonschema
)
clang_packages=(clang-14 libclang-rt-14-dev llvm-14 clang-tidy-14 clang-format-14)

case "${1:-}" in
  "") ;;
  --fuzz | --dev) packages+=("${clang_packages[@]}") ;;
  --with) packages+=("${@:2}") ;;
  *)
    echo "usage: scripts/deps.sh [--fuzz | --dev | --with PACKAGE...]" >&2
    exit 2
    ;;
esac

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then exit 0; fi

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || { echo "deps.sh: neither root nor sudo; please install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt_get() {  # says nothing unless it fails; RUNLEVEL: services of packages are not started
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
    apt-get -y -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 </dev/null ||
    { cat "$log" >&2; exit 1; }
}

echo "deps.sh: installing ${missing[*]}" >&2
apt_get update
apt_get install --no-install-recommends "${missing[@]}"
