#!/usr/bin/env python3
"""Every C++ block of docs/sdk-cpp.md stands word for word in the example program that the tests build and run.

    python3 tests/sdk/docs_examples_test.py [ROOT]
"""
import pathlib
import re
import sys


def blocks(page):
    return re.findall(r"^```cpp\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    example = (root / "agents_sdk/examples/quickstart.cpp").read_text(encoding="utf-8")
    found = blocks((root / "docs/sdk-cpp.md").read_text(encoding="utf-8"))
    if not found:
        sys.exit("docs/sdk-cpp.md has no C++ block")
    strange = [block for block in found if block not in example]
    for block in strange:
        print("not in agents_sdk/examples/quickstart.cpp:\n" + block)
    sys.exit(1 if strange else 0)


if __name__ == "__main__":
    main()
