"""Prints the medians and the largest files of each room, and fails for a file over 250 lines that no ADR explains."""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINES_MAX = 250


def lines_of(path: Path) -> int:
    return len(path.read_text().splitlines())


def main() -> int:
    explained = "\n".join(path.read_text() for path in (ROOT / "docs" / "adr").glob("*.md"))
    unexplained = []
    for room in ("events", "projections", "services"):
        sizes = {path: lines_of(path) for path in sorted((ROOT / room).rglob("*.py"))}
        largest = sorted(sizes, key=lambda path: -sizes[path])[:3]
        told = ", ".join(f"{path.relative_to(ROOT)} {sizes[path]}" for path in largest)
        print(f"{room:<12} {len(sizes)} files, median {statistics.median(sizes.values()):.0f} lines; largest: {told}")
        for path, lines in sizes.items():
            name = str(path.relative_to(ROOT))
            if lines > LINES_MAX and not re.search(rf"`{re.escape(name)}`", explained):
                unexplained.append(f"{name} has {lines} lines and no ADR says why")
    print("\n".join(unexplained))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
