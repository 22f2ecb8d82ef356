"""The benchmarks' rooms: imports run one way, and no folder holds too much."""

from __future__ import annotations

import ast
import unittest
from collections.abc import Iterator
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
MOST = 25  # files side by side
ROOMS = {path.name for path in BENCH.iterdir() if path.is_dir()}


def room_of(module: str) -> str:
    """lib is a room; cases and stress have a room a folder."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] in ("cases", "stress") else parts[0]


def imports_of(file: Path) -> Iterator[str]:
    """Modules of the benchmarks by their whole names; of `from package import module` both."""
    package = file.relative_to(BENCH).parent.parts
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] in ROOMS)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *filter(None, [node.module])])
            if module.split(".")[0] in ROOMS:
                yield from (f"{module}.{name.name}" for name in node.names)


class Rooms(unittest.TestCase):
    def test_a_room_knows_lib_and_no_other_room(self) -> None:
        for file in sorted(BENCH.glob("*/**/*.py")):
            room = room_of(".".join(file.relative_to(BENCH).parent.parts))
            for module in imports_of(file):
                self.assertIn(room_of(module), {room, "lib"}, f"{file.relative_to(BENCH)} imports {module}")

    def test_imports_are_seen(self) -> None:
        seen = set(imports_of(BENCH / "cases" / "digits" / "scenario.py"))
        self.assertLessEqual({"lib.say.say", "cases.digits.sweeps.Sweep"}, seen)

    def test_a_folder_can_be_looked_through(self) -> None:
        for folder in [BENCH, *(path for path in BENCH.rglob("*") if path.is_dir() and path.name != "__pycache__")]:
            files = [file.name for file in folder.iterdir() if file.is_file()]
            self.assertLessEqual(len(files), MOST, folder.relative_to(BENCH.parent))


if __name__ == "__main__":
    unittest.main()
