#!/usr/bin/env python3
"""Holds the order of the folders: who may include whom, and who may use which third-party library.

Reads the include lines of every C++ file, the CMakeLists.txt files and docs/architecture.md; builds nothing.
    python3 tests/layers_test.py [ROOT]
"""
import pathlib
import re
import sys

# A folder may include itself and what stands here. The longest name that fits a file is its folder.
BASE, MODEL, CODEC, NET = "common/base", "common/model", "common/codec", "common/net"
COMMON = {BASE, MODEL, CODEC, NET}
STORE = "blackboard/store"
RULES = {"conflict", "blackboard", "context"}
SERVER = COMMON | RULES | {STORE}
EVERYTHING = None
LAYERS = {
    BASE: set(),
    MODEL: {BASE},
    CODEC: {BASE, MODEL},
    NET: {BASE},
    "conflict": {BASE, MODEL},
    "blackboard": {BASE, MODEL, CODEC, "conflict"},
    STORE: {BASE, MODEL, CODEC, "conflict", "blackboard"},
    "context": {BASE, MODEL, CODEC, "blackboard"},
    "broker": SERVER,
    "agents_sdk/cpp": COMMON | RULES,
    "agents_sdk/embedded": SERVER | {"agents_sdk/cpp", "broker"},
    "agents_sdk/examples": COMMON | RULES | {"agents_sdk/cpp", "agents_sdk/embedded"},
    "cli": EVERYTHING,
    "demo": EVERYTHING,
    "bench": EVERYTHING,
    "tests": EVERYTHING,
}
ENDS = {"agents_sdk/examples", "cli", "demo", "bench", "tests"}  # nothing includes these, except the folder itself

# Header prefix -> where it may be included: a folder, or "folder/*.cpp" for the sources but not the headers.
THIRD_PARTY = {
    "lmdb.h": [f"{STORE}/*.cpp"],
    "zmq": [NET, "tests"],
    "msgpack": [f"{CODEC}/*.cpp", "tests"],
    "nlohmann/": [f"{CODEC}/*.cpp", "cli", "demo", "tests"],
    "openssl/": [f"{BASE}/*.cpp"],
    "xxhash.h": [f"{BASE}/*.cpp"],
    "re2/": [f"{BASE}/*.cpp"],
    "utf8proc.h": [f"{BASE}/*.cpp"],
    "spdlog/": ["broker", "cli"],
    "boost/program_options": ["broker", "cli", "demo", "bench"],
    "hiredis/": ["bench"],
    "libpq-fe.h": ["bench"],
    "grpcpp/": ["bench"],
    "etcd.grpc.pb.h": ["bench"],  # generated from bench/peers/etcd.proto
    "tl/expected.hpp": sorted(LAYERS.keys()),
    "fmt/": sorted(LAYERS.keys()),
    "gtest/": ["tests"],
    "gmock/": ["tests"],
}

# Not part of a library: the C++ standard library has no suffix, and these are the operating system's.
SYSTEM = re.compile(r"[a-z_0-9]+|(sys|netinet|arpa|linux|net)/\w+\.h|"
                    r"(dirent|errno|fcntl|getopt|netdb|poll|pthread|pwd|sched|signal|spawn|termios|time|unistd)\.h|"
                    r"sanitizer/\w+\.h")

# What the folders below broker do not do: ask a clock, draw at random, start threads, open sockets. The store may guard
# what several readers use, and writes back on a thread of its own; the rules have nothing to guard.
PURE = RULES | {STORE}
PURE_HEADERS = re.compile(r"thread|random|future|ctime|time\.h|pthread\.h|sys/(time|socket|random)\.h|netinet/.*|"
                          r"arpa/.*|netdb\.h|poll\.h")
THREAD_STARTERS = {f"{STORE}/write_back.hpp"}
LOCK_HEADERS = re.compile(r"mutex|shared_mutex|condition_variable|atomic|semaphore")
PURE_WORDS = re.compile(r"\b(?:(?:system|steady|high_resolution|utc|file)_clock\b|SystemClock\b|SystemRandom\b|"
                        r"clock_gettime\b|gettimeofday\b|random_device\b|getrandom\b|s?rand\s*\(|"
                        r"(?:std::|::)(?:time|clock)\s*\()")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)
STEP_ROW = re.compile(r"^\|[^|]*\|\s*`([^`|]+\.(?:cpp|hpp|py|ts|sh))`\s*\|\s*`([^`|]+)`\s*\|", re.MULTILINE)


class Source:
    """One C++ file: its path from the root, its folder in the table, and its text without comments."""

    def __init__(self, root, path):
        self.name = path.relative_to(root).as_posix()
        self.folder = folder_of(self.name)
        self.text = COMMENT.sub(lambda match: match.group(1) or "", path.read_text(encoding="utf-8"))

    def includes(self):
        """Pairs of '<' or '"' and the header, in order."""
        for match in INCLUDE.finditer(self.text):
            yield match.group(1), match.group(2)


def folder_of(name):
    fitting = [folder for folder in LAYERS if name.startswith(folder + "/")]
    return max(fitting, key=len, default=None)


def sources(root):
    hidden = re.compile(r"(^|/)(\.|build|cmake/|data/|node_modules/)")
    for path in sorted(root.rglob("*.[ch]pp")):
        if not hidden.search(path.relative_to(root).as_posix()):
            yield Source(root, path)


def may_include(folder, other):
    if other == folder:
        return True
    if other in ENDS:
        return folder == "tests"
    return LAYERS[folder] is EVERYTHING or other in LAYERS[folder]


def check_layers(root, files):
    """The include lines between our own folders."""
    for file in files:
        if file.folder is None:
            yield f"{file.name}: its folder is not in the table of tests/layers_test.py"
            continue
        for bracket, header in file.includes():
            if bracket == "<":
                if (root / header).is_file():
                    yield f"{file.name}: write #include \"{header}\", it is ours"
                continue
            if not (root / header).is_file():
                yield f"{file.name}: \"{header}\" is no file from the root of the repository"
                continue
            if header.endswith(".cpp"):
                yield f"{file.name}: includes a source, {header}"
            other = folder_of(header)
            if other is None or not may_include(file.folder, other):
                yield f"{file.name}: {file.folder} may not include {header}"


def check_third_party(root, files):
    """Each library stays in the folders that wrap it."""
    for file in files:
        for bracket, header in file.includes():
            if bracket == '"' or SYSTEM.fullmatch(header) or (root / header).is_file():
                continue
            places = next((THIRD_PARTY[prefix] for prefix in THIRD_PARTY if header.startswith(prefix)), None)
            if places is None:
                yield f"{file.name}: <{header}> is of no library in the table of tests/layers_test.py"
            elif file.folder not in places and not (file.name.endswith(".cpp") and f"{file.folder}/*.cpp" in places):
                yield f"{file.name}: <{header}> may be included only by {', '.join(places)}"


def check_purity(_root, files):
    """No clock, randomness, threads or sockets below broker."""
    for file in files:
        if file.folder not in PURE:
            continue
        for _, header in file.includes():
            if header == "thread" and file.name in THREAD_STARTERS:
                continue
            if PURE_HEADERS.fullmatch(header) or (file.folder in RULES and LOCK_HEADERS.fullmatch(header)):
                yield f"{file.name}: {file.folder} may not include <{header}>"
        for match in PURE_WORDS.finditer(file.text):
            line = file.text[:match.start()].splitlines()[-1:] + [file.text[match.start():].splitlines()[0]]
            yield f"{file.name}: {file.folder} may not ask for time or chance: {''.join(line).strip()}"


def check_listed(root, files):
    """Every source (and outside tests every header) is named in a CMakeLists.txt of its folder or one above."""
    lists = {}
    for path in root.rglob("CMakeLists.txt"):
        folder = path.parent.relative_to(root)
        if not folder.parts or not folder.parts[0].startswith((".", "build")):
            text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
            lists[folder.as_posix()] = set(re.split(r'[\s()"]+', text))
            if re.search(r"\bfile\s*\(\s*GLOB", text):
                yield f"{path.relative_to(root)}: file(GLOB) hides what is built"
    for file in files:
        if file.folder == "tests" and file.name.endswith(".hpp"):
            continue
        path = pathlib.PurePosixPath(file.name)
        named = (path.relative_to(above).as_posix() in lists.get(above.as_posix(), ()) for above in path.parents)
        if not any(named):
            yield f"{file.name}: named in no CMakeLists.txt"


def check_architecture(root, _files):
    """The table of docs/architecture.md that follows one delta names functions that are there."""
    page = root / "docs/architecture.md"
    rows = STEP_ROW.findall(page.read_text(encoding="utf-8")) if page.is_file() else []
    if not rows:
        yield "docs/architecture.md: no rows | step | `path/file.cpp` | `function` |"
    for name, function in rows:
        path = root / name
        word = function.removesuffix("()").split("::")[-1]
        if not path.is_file():
            yield f"docs/architecture.md: there is no {name}"
        elif not re.search(rf"\b{re.escape(word)}\b", path.read_text(encoding="utf-8")):
            yield f"docs/architecture.md: {name} has no {function}"


def check_limits(root, _files):
    """docs/limits.md has each limit of limits.hpp with its default, and no other."""
    declared = dict(re.findall(r"^inline constexpr \S+ (\w+) = ([^;]+);", (root / "common/base/limits.hpp").read_text(), re.M))
    listed = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", (root / "docs/limits.md").read_text(), re.M))
    for name in sorted(declared.keys() | listed.keys()):
        if declared.get(name) != listed.get(name):
            yield f"docs/limits.md: {name} is {listed.get(name)}, in limits.hpp {declared.get(name)}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    files = list(sources(root))
    if not files:
        print(f"{root}: no C++ files")
        return 1
    failed = 0
    checks = [check_layers, check_third_party, check_purity, check_listed, check_architecture, check_limits]
    for check in checks:
        problems = list(check(root, files))
        failed += bool(problems)
        print(f"{'FAILED' if problems else 'ok':6} {check.__name__}: {check.__doc__}")
        for problem in problems:
            print(f"       {problem}")
    print(f"{len(files)} files")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
