"""Manual pages, completion and docs/commands, which are made from the programs' command lines; and whether
every command that the docs show exists."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["MOIL_BUILD"])
DOCUMENTED = ("moild", "moilctl", "moil-pretrain", "moil-import", "moil-export", "moil-plan")
PROGRAMS = (*DOCUMENTED, "moil-onnx", "moil-worker", "moil-review")


def manual(program: str, form: str) -> str:
    command = [BUILD / "daemon" / program, "--manual", form]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def pages() -> list[Path]:
    made = ROOT / "docs/commands"
    return [ROOT / "README.md", *(p for p in (ROOT / "docs").rglob("*.md") if made not in p.parents)]


def commands_shown(page: Path) -> Iterator[str]:
    """Lines of code that call a program of ours, in fences and between backquotes."""
    text = page.read_text()
    fences = re.findall(r"^```[a-z]*\n(.*?)^```", text, flags=re.S | re.M)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    for code in (*fences, *re.findall(r"`([^`]+)`", rest)):
        for line in code.replace("\\\n", " ").splitlines():
            # Quoted words are values; what stands behind a comment, pipe or separator is no part.
            plain = re.sub(r"\"[^\"]*\"|'[^']*'", "VALUE", " ".join(line.split()))
            if re.match(r"(sudo |\$ )?(\S*/)?(moil[a-z-]*) ", plain + " "):
                yield re.split(r" #| \||&| ;|;|→|,? …", plain)[0].strip().removeprefix("sudo ").removeprefix("$ ")


def complaint(table: dict[str, Any], words: list[str]) -> str | None:
    """Why the words of a command line do not fit a program's table."""
    options = {name: option for option in table["options"] for name in option["names"]}
    at, skip = table, False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") and len(word) > 1:
            name, equals, _ = word.partition("=")
            if name not in options:
                return f"no option {name}"
            skip = bool(options[name]["value"]) and not equals
        elif at["commands"]:
            alternatives = word.split("|")  # "enable|disable"
            below = {command["name"]: command for command in at["commands"]}
            for alternative in alternatives:
                if re.fullmatch(r"[a-z-]+", alternative) and alternative not in below:
                    return f"no command {alternative}"
            at = below.get(alternatives[0], {"commands": [], "options": []})
            options |= {name: option for option in at["options"] for name in option["names"]}
    return None


class ManualTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="moil-manual-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def written(self, program: str, form: str) -> Path:
        file = self.folder / f"{program}.{form}"
        file.write_text(manual(program, form))
        return file

    def need(self, program: str) -> None:
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")

    def test_the_pages_of_the_docs_are_those_of_the_programs(self) -> None:
        for program in DOCUMENTED:
            page = ROOT / "docs/commands" / f"{program}.md"
            self.assertEqual(page.read_text(), manual(program, "markdown"), f"run scripts/manual ({page.name})")
        self.assertEqual({page.stem for page in (ROOT / "docs/commands").iterdir()}, set(DOCUMENTED))

    def test_what_the_docs_call_exists(self) -> None:
        tables = {program: json.loads(manual(program, "json")) for program in PROGRAMS}
        wrong, seen = [], 0
        for page in pages():
            for line in commands_shown(page):
                program, *words = line.split()
                program = program.rpartition("/")[2]
                if program not in tables:
                    continue
                seen += 1
                if (why := complaint(tables[program], words)) is not None:
                    wrong.append(f"{page.relative_to(ROOT)}: {line}: {why}")
        self.assertEqual(wrong, [])
        self.assertGreater(seen, 50)

    def commands(self, table: dict[str, Any], path: list[str]) -> Iterator[list[str]]:
        yield path
        for below in table["commands"]:
            yield from self.commands(below, [*path, below["name"]])

    def test_no_page_speaks_of_types(self) -> None:
        """A value is a FILE, N or SECONDS, and never how a program keeps it."""
        of_types = re.compile(r"\b(TEXT|UINT|INT|FLOAT|BOOLEAN|ENUM|POSITIVE|NONNEGATIVE)\b")
        for program in PROGRAMS:
            texts = {form: manual(program, form) for form in ("markdown", "man")}
            for path in self.commands(json.loads(manual(program, "json")), []):
                told = subprocess.run([BUILD / "daemon" / program, *path, "--help"], capture_output=True, text=True, check=True)
                texts[" ".join([*path, "--help"])] = told.stdout
            for what, text in texts.items():
                self.assertIsNone(of_types.search(text), f"{program} {what}")

    def test_a_wrong_command_would_be_found(self) -> None:
        table = json.loads(manual("moilctl", "json"))
        self.assertIsNone(complaint(table, ["--json", "job", "submit", "FILE", "--now"]))
        self.assertIn("--soon", complaint(table, ["job", "submit", "FILE", "--soon"]) or "")
        self.assertIn("sumbit", complaint(table, ["job", "sumbit", "FILE"]) or "")

    def test_one_program_of_three_names(self) -> None:
        """moil-import is moil-onnx import, moil-export its export: the same options, and each says the name that was typed."""
        below = {command["name"]: command for command in json.loads(manual("moil-onnx", "json"))["commands"]}
        for command, words in (("import", ("none.onnx", "--out", "none")), ("export", ("none", "--out", "none.onnx"))):
            name = f"moil-{command}"
            table = json.loads(manual(name, "json"))
            self.assertEqual((table["name"], table["commands"]), (name, []))
            self.assertEqual(table["positionals"], below[command]["positionals"])
            own, all_of = ([str(option) for option in of["options"]] for of in (below[command], table))
            self.assertLessEqual(set(own), set(all_of))
            told = []
            for typed in ([name], ["moil-onnx", command]):
                done = subprocess.run([BUILD / "daemon" / typed[0], *typed[1:], *words], capture_output=True, text=True, cwd=self.folder)
                self.assertEqual((done.returncode, done.stdout), (66, ""))
                told.append(done.stderr.removeprefix(f"{typed[0]}: "))
                self.assertNotEqual(told[-1], done.stderr)
            self.assertEqual(*told)

    def test_manual_pages(self) -> None:
        self.need("groff")
        for program in PROGRAMS:
            page = self.written(program, "man")
            told = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True, text=True, check=True)
            self.assertEqual(told.stderr, "")
            for command in self.leaves(json.loads(manual(program, "json"))):
                self.assertIn(command["help"].split("\n")[0][1:20], re.sub(r"\s+", " ", page.read_text().replace("\\", "")))

    def leaves(self, table: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if not table["commands"]:
            yield table
        for below in table["commands"]:
            yield from self.leaves(below)

    def bash(self, program: str, *words: str) -> set[str]:
        script = self.written(program, "bash")
        function = "_" + program.replace("-", "_")
        line = " ".join(f"'{word}'" for word in (program, *words))
        code = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; {function}; echo \"${{COMPREPLY[@]}}\""
        told = subprocess.run(["bash", "-euc", code], capture_output=True, text=True, check=True)
        self.assertEqual(told.stderr, "")
        return set(told.stdout.split())

    def test_bash_completes(self) -> None:
        self.assertEqual(self.bash("moilctl", "job", "su"), {"submit"})
        self.assertLessEqual({"job", "label", "model", "status"}, self.bash("moilctl", ""))
        self.assertEqual(self.bash("moilctl", "--socket", "job", "job", "sub"), {"submit"})
        self.assertLessEqual({"--now", "--watch", "--json"}, self.bash("moilctl", "job", "submit", "--"))
        self.assertEqual(self.bash("moilctl", "job", "submit", ""), set())  # the shell's own files
        self.assertEqual(self.bash("moil-pretrain", "train", "--task", "t"), {"tag"})
        for program in PROGRAMS:
            self.assertIn("--version", self.bash(program, "--v"))

    def told_words(self, *words: str) -> dict[str, str]:
        """The environment in which `moilctl words` tells these, whatever kind is asked for."""
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "moilctl"
        lines = "".join(f"{word}\n" for word in words)
        program.write_text(f"#!/bin/sh\n[ \"$1\" = words ] || exit 64\necho \"$2\" >>'{self.folder}/asked'\ncat <<'E'\n{lines}E\n")
        program.chmod(0o755)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def test_shells_complete_what_the_daemon_has(self) -> None:
        """Models, jobs, labels and schedules; a label may be any text, and none of it is carried out."""
        evil = f"two $(touch {self.folder}/harm) words"
        env = self.told_words("kitchen", "kitten", evil)
        script = self.written("moilctl", "bash")
        for line, kind in (
            (["model", "show", "kit"], "models"),
            (["predict", "a.jpg", "--model", "kit"], "models"),
            (["label", "rename", "kit"], "labels"),
            (["label", "add", "a.jpg", "--label", "kit"], "labels"),
            (["label", "merge", "a", "kit"], "labels"),
            (["job", "watch", "kit"], "jobs"),
            (["schedule", "run", "kit"], "schedules"),
        ):
            words = " ".join(f"'{word}'" for word in ("moilctl", *line))
            code = f'source {script}; COMP_WORDS=({words}); COMP_CWORD={len(line)}; _moilctl; printf "%s\\n" "${{COMPREPLY[@]}}"'
            told = subprocess.run(["bash", "-euc", code], capture_output=True, text=True, check=True, env=env)
            self.assertEqual((told.stdout.split(), told.stderr), (["kitchen", "kitten"], ""), line)
            self.assertEqual((self.folder / "asked").read_text().split()[-1], kind, line)
        code = f'source {script}; COMP_WORDS=(moilctl model show two); COMP_CWORD=3; _moilctl; printf "%s\\n" "${{COMPREPLY[@]}}"'
        told = subprocess.run(["bash", "-euc", code], capture_output=True, text=True, check=True, env=env)
        self.assertEqual(told.stdout.count("\n"), 1, "one word of the shell's, quoted")
        if shutil.which("fish"):
            code = f"source {self.written('moilctl', 'fish')}; complete -C 'moilctl model show kitc'"
            told = subprocess.run(["fish", "--no-config", "-c", code], capture_output=True, text=True, check=True, env=env)
            self.assertEqual(told.stdout.split(), ["kitchen"])
        self.assertIn(":MODEL:_moilctl__words models", manual("moilctl", "zsh"))
        self.assertFalse((self.folder / "harm").exists())

    def test_fish_completes(self) -> None:
        self.need("fish")
        script = self.written("moilctl", "fish")
        for typed, expected in (("moilctl job su", "submit"), ("moilctl job submit --no", "--now")):
            code = f"source {script}; complete -C '{typed}'"
            told = subprocess.run(["fish", "--no-config", "-c", code], capture_output=True, text=True, check=True)
            self.assertEqual(told.stderr, "")
            self.assertEqual([line.split("\t")[0] for line in told.stdout.splitlines()], [expected])
        for program in PROGRAMS:
            subprocess.run(["fish", "--no-execute", self.written(program, "fish")], check=True)

    def test_zsh_reads_its_completion(self) -> None:
        self.need("zsh")
        for program in PROGRAMS:
            subprocess.run(["zsh", "-n", self.written(program, "zsh")], check=True)
        # A made-up _arguments takes one word off the line, as zsh's does, and shows what it was asked for.
        code = (
            "_arguments() { print -r -- $*; state=rest; shift words; }; _describe() { true; }; "
            f"words=(moilctl job submit); source {self.written('moilctl', 'zsh')}"
        )
        told = subprocess.run(["zsh", "-fc", code], capture_output=True, text=True, check=True)
        self.assertEqual(told.stderr, "")
        asked = told.stdout.splitlines()
        self.assertEqual(len(asked), 3, "the program, its group and its command")
        self.assertIn("--now[do not wait for the night]", asked[2])
        self.assertIn(":FILE:_files", asked[2])



if __name__ == "__main__":
    unittest.main()
