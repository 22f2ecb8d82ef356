"""moilctl label review, as its users have it: a page in a browser, by keys, clicks and taps, and a terminal."""

from __future__ import annotations

import contextlib
import http.server
import os
import pty
import re
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from images import grey_png
from world import MODEL, SETTINGS, Daemon, World, ctl_of, daemon_in, small_night, wait_for, worker_script
from lib.programs import ROOT, program, run
from lib.review.browser import PHONE, Browser, missing
from lib.review.running import Review

MANY = 10_000
# The page's frames while all of them scroll by, in milliseconds; CI's machines are busy.
WORST_GAP, USUAL_GAP = 400.0, 60.0
# MOIL_PICTURES=FOLDER keeps what the pages look like.
PICTURES = os.environ.get("MOIL_PICTURES")

world: World


many: Future[Daemon]


def setUpModule() -> None:
    global world, many
    world = World()
    unittest.addModuleCleanup(world.clean)
    if missing():
        return
    pool = ThreadPoolExecutor(1)
    many = pool.submit(daemon_with_many)  # while other tests run
    unittest.addModuleCleanup(pool.shutdown)
    unittest.addModuleCleanup(lambda: many.result().stop())


def daemon_with_many() -> Daemon:
    """With MANY unlabelled photos."""
    folder = world.new_folder("many")
    photos = folder / "photos"
    photos.mkdir()
    for i in range(MANY):
        pixels = [(x * i + y) % 256 for y in range(8) for x in range(7)]
        (photos / f"{i:05}.png").write_bytes(grey_png(8, [*pixels, *i.to_bytes(8, "big")]))
    daemon = daemon_in(folder)
    daemon.start()
    ctl_of(daemon).json("label", "add", "--unlabelled", photos)
    return daemon


class Case(unittest.TestCase):
    daemon: Daemon

    def review(self, *words: str, **given: Any) -> Review:
        review = Review(self.daemon, *words, **given)
        self.addCleanup(review.end)
        return review

    def browser(self, *size: tuple[int, int], **given: Any) -> Browser:
        browser = Browser(*size, **given)
        self.addCleanup(browser.close)
        return browser

    def keep_picture(self, browser: Browser, name: str) -> None:
        if PICTURES:
            Path(PICTURES).mkdir(parents=True, exist_ok=True)
            browser.picture(Path(PICTURES) / f"{name}.png")

    def digest(self, name: str) -> str:
        samples = ctl_of(self.daemon).json("label", "samples")["samples"]
        return next(sample["digest"] for sample in samples if short(sample["name"]) == name)

    def labels(self) -> dict[str, list[str]]:
        """Every sample's, by its file's name."""
        samples = ctl_of(self.daemon).json("label", "samples")["samples"]
        return {short(sample["name"]): sample["labels"] for sample in samples}


# What the page asks first after an undo is answered after what it asks then.
FIRST_LABELS_COME_LATE = """(() => {
  const ask = window.fetch;
  let undone = false;
  window.fetch = async (address, ...more) => {
    if (address.endsWith('/undo')) undone = true;
    else if (undone) {
      window.fetch = ask;
      await new Promise((go) => setTimeout(go, 1000));
    }
    return ask(address, ...more);
  };
})()"""


def open_tab(browser: Browser, review: Review, tab: str = "unlabelled") -> None:
    """The page, and then one of its tabs."""
    browser.open(review.address)
    browser.until("document.querySelector('#unlabelled-count')?.textContent.match(/[0-9]/)")
    browser.click(f"[data-tab={tab}]")


# Texts whose contrast to what lies behind them is less than WCAG asks for (AA), with their contrast.
FAINT = """(() => {
  const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const paint = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => paint(color).slice(0, 3).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if (paint(color)[3] === 255) return color;
    }
    return 'white';
  };
  const faint = [];
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!text || !element.checkVisibility() || element.closest('.picture, .check, :disabled, svg')) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faint.push(`${element.tagName} ${element.className} ${contrast.toFixed(1)}`);
  }
  return faint;
})()"""


class PageTest(Case):
    """Some samples and a model: sevens and eights are labelled, one of them wrongly; nobody has said yet what
    the others are."""

    def setUp(self) -> None:
        self.daemon = daemon_in(world.new_folder("page"))
        self.enterContext(self.daemon)
        ctl = ctl_of(self.daemon)
        ctl.import_model(world.pretrained.model, MODEL)
        train = world.place.train
        ctl.add_label(train["7"][:20] + train["8"][:1], "seven", "train")
        ctl.add_label(train["8"][1:20], "eight", "train")
        ctl.add_label(train["9"][:3], "nine", "train")
        self.wrong = short(train["8"][0])
        unlabelled = [file for name in SETTINGS.global_classes for file in train[name][:6]]
        ctl.json("label", "add", "--unlabelled", *unlabelled)
        self.unlabelled = [short(file) for file in unlabelled]

    @unittest.skipIf(missing(), missing())
    def test_a_desk(self) -> None:
        review, browser = self.review("--no-open", "--model", MODEL), self.browser()
        open_tab(browser, review)
        browser.until("document.querySelectorAll('.cell img').length >= 20")
        browser.until("document.querySelector('.proposed, .unsure')")
        self.assertEqual(browser.run("location.pathname + location.search"), "/")
        self.assertEqual(browser.text("#unlabelled-count"), str(len(self.unlabelled)))
        self.keep_picture(browser, "desk-light")
        browser.show_in(dark=True)
        self.keep_picture(browser, "desk-dark")
        browser.show_in(dark=False)
        name = self.unlabelled
        self.check_orders(browser)

        # A key a decision, and keys that come sooner than answers.
        browser.press("1", "2", "1")
        self.until_labels({name[0]: ["seven"], name[1]: ["eight"], name[2]: ["seven"], name[3]: []})
        browser.run(FIRST_LABELS_COME_LATE)
        browser.press("u", "u")
        self.until_labels({name[0]: ["seven"], name[1]: [], name[2]: []})
        # What it took back is out of moild's list of steps, too: nothing puts the mistakes back.
        self.assertEqual(ctl_of(self.daemon).json("label", "undo")["undone"], "assign")
        self.until_labels({name[i]: [] for i in range(3)})
        ctl_of(self.daemon).json("label", "assign", self.digest(name[0]), "--label", "seven")
        # A click a decision, for the sample that the second undo went back to.
        browser.until("document.querySelector('.cell.cursor').id === 'cell-1'")
        browser.click("#labels button:nth-child(3)")
        self.until_labels({name[1]: ["nine"]})
        # What the model proposes.
        browser.click("#proposals button")
        wait_for("a proposal", lambda: self.labels()[name[2]] != [])
        self.assertIn(self.labels()[name[2]][0], SETTINGS.global_classes)

        # Several at once, by clicks and by keys, under a label that is new.
        browser.click("#cell-4")
        browser.click("#cell-8", "Control")
        browser.click("#cell-6", "Control")
        self.assertIn("2 of", browser.text("#status"))
        browser.click("#cell-4")
        browser.press("ArrowRight", "ArrowRight", hold="Shift")
        browser.until("document.querySelectorAll('.selected').length === 3")
        self.keep_picture(browser, "desk-selected")
        browser.press("Enter", *"a cup", "Enter")
        browser.until("document.querySelector('#status').textContent.startsWith('new label \"a cup\"?')")
        self.assertEqual(self.labels()[name[4]], [], "it is asked for once more")
        browser.press("Enter")
        self.until_labels({name[i]: ["a cup"] for i in (4, 5, 6)} | {name[7]: []})
        browser.until("document.activeElement.id === 'grid'")
        browser.press("u")
        self.until_labels({name[i]: [] for i in (4, 5, 6)})
        known = ctl_of(self.daemon).json("label", "list")["labels"]
        self.assertNotIn("a cup", [label["name"] for label in known], "it came with what was taken back")

        # All proposals in one go, and back.
        before = self.labels()
        browser.press("a", hold="Control")
        browser.click("#accept")
        wait_for("all to be labelled", lambda: all(self.labels().values()))
        browser.until("document.querySelector('#unlabelled-count').textContent === '0'")
        browser.press("u")
        wait_for("all to be as before", lambda: self.labels() == before)
        browser.until(f"document.querySelector('#unlabelled-count').textContent === '{len(name) - 3}'")

        # moild is started anew under the page.
        self.daemon.stop()
        self.daemon.start()
        browser.press("Home", "2")
        self.until_labels({name[0]: ["eight"]})

        self.check_doubts(browser)
        browser.press("?")
        browser.until("document.querySelector('#help').open")
        self.keep_picture(browser, "desk-help")
        browser.click("#help button")
        browser.until("!document.querySelector('#help').open")
        # The page is loaded again.
        browser.run("window.old = true; location.reload()")
        browser.until("!window.old && document.querySelector('#unlabelled-count')?.textContent.match(/[0-9]/)")
        browser.click("[data-tab=unlabelled]")
        browser.until("document.querySelectorAll('.cell img').length >= 20")
        browser.until("document.querySelector('.proposed, .unsure')")
        self.assertEqual(browser.complaints(), [])
        browser.click("#done")
        browser.until("document.querySelector('.over')?.textContent.includes('can be closed')")
        self.assertEqual(review.process.wait(timeout=10), 0)
        browser.press("u", "1", "+", "ArrowDown")
        browser.show_in(dark=True)
        self.assertEqual(browser.complaints(), [])

    def check_orders(self, browser: Browser) -> None:
        def first_in(order: str) -> str:
            select = "document.querySelector('#order')"
            browser.run(f"{select}.value = '{order}'; {select}.dispatchEvent(new Event('change'))")
            browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            return short(browser.run("document.getElementById('cell-0').dataset.name"))

        useful = ctl_of(self.daemon).json("label", "suggest")["suggestions"]
        self.assertEqual(first_in("useful"), short(useful[0]["name"]))
        alike = min(useful, key=lambda said: (said["proposals"][0]["label"], -said["proposals"][0]["probability"]))
        self.assertEqual(first_in("proposal"), short(alike["name"]))
        self.assertEqual(first_in("added"), self.unlabelled[0])
        browser.press("Home")

    def check_doubts(self, browser: Browser) -> None:
        doubts = ctl_of(self.daemon).json("label", "audit")["wrong"]
        browser.click("[data-tab=doubtful]")
        browser.until(f"document.getElementById('cell-1')?.dataset.name === '{doubts[1]['name']}'")
        browser.until(f"document.querySelectorAll('.cell:not([hidden]) img').length === {len(doubts)}")
        self.keep_picture(browser, "desk-doubtful")
        shown = browser.run("[...document.querySelectorAll('.cell:not([hidden])')].map((cell) => cell.dataset.name)")
        self.assertEqual(sorted(shown), sorted(doubt["name"] for doubt in doubts))
        self.assertIn(self.wrong, [short(doubt["name"]) for doubt in doubts])
        first, second = ((short(doubt["name"]), doubt["labels"]) for doubt in doubts[:2])
        browser.press("a", "k")
        self.until_labels({first[0]: [doubts[0]["looks_like"]], second[0]: second[1]})
        browser.press("u", "u")  # what was kept first
        self.until_labels({first[0]: first[1], second[0]: second[1]})
        browser.press("Home")
        browser.until(f"document.getElementById('cell-0').textContent.includes('{first[1][0]}looks like')")
        browser.press("A", hold="Shift")  # it is not what it looks like
        self.until_labels({first[0]: sorted([f"!{doubts[0]['looks_like']}", *first[1]])})
        browser.until("document.getElementById('cell-0').textContent.includes('not ')")
        browser.press("u")
        self.until_labels({first[0]: first[1]})
        browser.click("[data-tab=labelled]")
        browser.until("document.querySelector('.cell:not([hidden]) img')?.closest('.cell').getAttribute('aria-setsize') > 40")

    def until_labels(self, expected: dict[str, list[str]]) -> None:
        def differing() -> dict[str, list[str]]:
            found = self.labels()
            return {name: found[name] for name, labels in expected.items() if found[name] != labels}
        try:
            wait_for("labels", lambda: not differing(), 10)
        except AssertionError:
            self.fail(f"expected {expected}, but there is {differing()}")

    @unittest.skipIf(missing(), missing())
    def test_one_sample_fills_the_window(self) -> None:
        review, browser = self.review("--no-open"), self.browser()
        open_tab(browser, review)
        browser.until("document.querySelectorAll('.cell img').length >= 10")
        shown, name = "!document.querySelector('#large').hidden", self.unlabelled
        place = "document.querySelector('#large-place').textContent"
        browser.press("ArrowRight", " ")
        browser.until(shown)
        browser.until("document.querySelector('#large-picture').naturalWidth > 0")
        self.assertEqual(short(browser.text("#large-name")), name[1])
        browser.press("ArrowRight", "ArrowDown", "ArrowLeft")
        browser.until(f"{place} === '3 of {len(name)}'")
        scale = "new DOMMatrix(getComputedStyle(document.querySelector('#large-picture')).transform).a"
        browser.press("+", "+")
        browser.until(f"{scale} > 2")
        self.keep_picture(browser, "desk-large")
        browser.press("-", "-", "-")
        browser.until(f"{scale} === 1")
        browser.wheel("#stage", -600)
        browser.until(f"{scale} > 2")
        # A decision is for the one that is shown, which then gives way to the next.
        browser.press("2")
        self.until_labels({name[2]: ["eight"]})
        browser.until(f"{place} === '4 of {len(name)}' && {scale} === 1")
        browser.press("Escape")
        browser.until("document.querySelector('#large').hidden")
        browser.until("document.querySelector('.cell.cursor').id === 'cell-3'")
        browser.press(" ", " ")
        browser.until("document.querySelector('#large').hidden && document.activeElement.id === 'grid'")
        self.assertEqual(browser.run("document.querySelectorAll('.selected').length"), 0, "it selects nothing")
        self.assertEqual(browser.complaints(), [])

    @unittest.skipIf(missing(), missing())
    def test_two_are_the_same_or_different(self) -> None:
        review, browser = self.review("--no-open"), self.browser()
        open_tab(browser, review, "labelled")
        browser.until("document.querySelectorAll('.cell img').length >= 10")
        shown = browser.run("[0, 1, 2].map((i) => document.getElementById('cell-' + i).dataset.name)")
        first, second, third = map(short, shown)
        self.assertEqual(self.labels()[first], ["eight"])
        # One of them is called something else.
        ctl_of(self.daemon).json("label", "assign", self.digest(second), "--label", "nine")
        browser.click("[data-tab=home]")
        browser.click("[data-tab=labelled]")
        position = f"[...document.querySelectorAll('.cell:not([hidden])')].find((cell) => cell.dataset.name?.endsWith('{second}'))"
        browser.until(position)
        place = browser.run(f"{position}.dataset.position")
        browser.click(f"#cell-{place} .check")
        browser.until("document.querySelector('#status').textContent.startsWith('1 of')")
        browser.press("Home")
        browser.until("document.querySelector('#cell-0')")
        browser.press("x", "c")
        browser.until("!document.querySelector('#compare').hidden")
        browser.until("[...document.querySelectorAll('#sides img')].every((image) => image.naturalWidth > 0)")
        self.keep_picture(browser, "desk-compare")
        self.assertEqual(browser.text("#both-left span"), "Both are eight")
        self.assertEqual(browser.text("#both-right span"), "Both are nine")
        browser.press("ArrowRight")
        self.until_labels({first: ["nine"], second: ["nine"], third: ["eight"]})
        browser.press("u")
        self.until_labels({first: ["eight"], second: ["nine"]})
        browser.until("document.querySelector('#compare').hidden")
        browser.press("c")
        browser.until("document.querySelector('#status').textContent.startsWith('select two')")
        self.assertEqual(browser.complaints(), [])

    @unittest.skipIf(missing(), missing())
    def test_a_new_label_is_asked_for_once_and_escape_clears(self) -> None:
        review, browser = self.review("--no-open"), self.browser()
        open_tab(browser, review)
        browser.until("document.querySelectorAll('.cell img').length >= 10")
        known = lambda: {label["name"] for label in ctl_of(self.daemon).json("label", "list")["labels"]}  # noqa: E731
        browser.press("Enter", *"Seven", "Enter")
        browser.until("document.querySelector('#status').textContent.includes('beside \"seven\"')")
        browser.press("Escape")
        browser.until("document.activeElement.id === 'grid' && document.querySelector('#label').value === ''")
        browser.press("Enter", *"sevn", "Enter")
        browser.until("document.querySelector('#status').textContent.startsWith('new label')")
        browser.press("x", "Enter")  # another one is asked for anew
        browser.until("document.querySelector('#status').textContent.includes('sevnx')")
        browser.press("Escape", "x", "ArrowRight", "x", "Escape")
        browser.until("document.querySelectorAll('.selected').length === 0")
        self.assertEqual(known(), {"seven", "eight", "nine"})
        browser.press("Home", "Enter", *"seven", "Enter")
        self.until_labels({self.unlabelled[0]: ["seven"]})
        browser.press("Enter", *"mug", "Enter", "Enter")
        self.until_labels({self.unlabelled[1]: ["mug"]})
        browser.press("n")
        self.until_labels({self.unlabelled[2]: ["something else"]})
        browser.press("Enter", *"Seven", "Enter", "Enter")  # beside "seven": it is another one
        self.until_labels({self.unlabelled[3]: ["Seven"]})
        self.assertEqual(browser.complaints(), [])

    @unittest.skipIf(missing(), missing())
    def test_page_and_command_line_have_one_history(self) -> None:
        review, browser, ctl = self.review("--no-open"), self.browser(), ctl_of(self.daemon)
        open_tab(browser, review)
        browser.until("document.querySelectorAll('.cell img').length >= 10")
        name = self.unlabelled
        browser.press("1", "2", "1", "2")
        self.until_labels({name[0]: ["seven"], name[1]: ["eight"], name[2]: ["seven"], name[3]: ["eight"]})
        browser.press("u")
        self.until_labels({name[3]: []})
        ctl.json("label", "undo")  # takes back the third, and does not put the fourth there again
        self.until_labels({name[2]: [], name[3]: []})
        browser.press("u")  # what the command line took back is passed over
        self.until_labels({name[0]: ["seven"], name[1]: [], name[2]: [], name[3]: []})
        ctl.json("label", "undo")
        self.until_labels({name[0]: [], name[1]: [], name[2]: [], name[3]: []})
        self.assertEqual(browser.complaints(), [])

    @unittest.skipIf(missing(), missing())
    def test_the_first_page_and_the_last(self) -> None:
        review, browser = self.review("--no-open"), self.browser()
        browser.open(review.address)
        count = len(self.unlabelled)
        browser.until(f"document.querySelector('#best h1')?.textContent === '{count} samples wait for a label'")
        browser.until("document.querySelector('#labelled-count').textContent === '43'")
        browser.until("document.querySelector('#doubtful-count').textContent.match(/^[0-9]+$/)", 60)
        doubts = ctl_of(self.daemon).json("label", "audit")["wrong"]
        self.assertEqual(browser.text("#doubtful-count"), str(len(doubts)))
        self.assertEqual(browser.text("#night"), "No night has run yet.")
        # What the model says of a file that is dropped.
        photo = (world.place.train["7"][0]).read_bytes()
        drop = ("const data = new DataTransfer(); data.items.add(new File([new Uint8Array(%s)], 'seven.png', {type: 'image/png'}));"
                "document.dispatchEvent(new DragEvent('drop', {dataTransfer: data, cancelable: true}))" % list(photo))
        browser.run(drop)
        browser.until("document.querySelectorAll('#answer .bar').length >= 3")
        browser.until("document.querySelector('#dropped img')?.naturalWidth > 0")
        self.keep_picture(browser, "home")
        # A night by a click; without a pack the page says what is missing.
        browser.click("#train")
        browser.until("document.querySelector('#train-text').textContent.includes('pack')")
        self.assertEqual([word for told in browser.complaints() for word in told.split() if "/api/" not in word and "409" not in word],
                         "Failed to load resource: the server responded with a status of (Conflict)".split())
        # A night, which tells how it went and leaves its pack to the next one.
        ctl = ctl_of(self.daemon)
        for digit, label in (("7", "seven"), ("8", "eight")):
            ctl.add_label(world.place.held_out[digit][:5], label, "val")
        train = {"epochs": 2, "batch": 8, "optimizer": {"type": "adam", "learning_rate": 0.001}}
        night = ctl.wait(ctl.submit(small_night("night", MODEL, world.pretrained.pack, train=train, guard={"max_global_drop": 1.0})))
        self.assertIn(night["state"], ("succeeded", "rejected-by-guard"), night["message"])
        browser.click("[data-tab=unlabelled]")
        browser.click("[data-tab=home]")
        browser.until("document.querySelector('#night').textContent !== 'No night has run yet.'")
        after = round(100 * night["result"]["local_after"])
        stayed = after if night["state"] == "succeeded" else round(100 * night["result"]["local_before"])
        browser.until(f"document.querySelector('#chart-now').textContent === '{stayed}%'")
        self.assertEqual(browser.run("document.querySelectorAll('#chart .dot').length"), 2, "before, and after")
        self.assertIn(f"{after}%", browser.text("#night"))
        self.keep_picture(browser, "home-after-a-night")
        ctl.add_label(world.place.held_out["9"][:5], "sign", "train")
        browser.click("#train")
        wait_for("a second job", lambda: len(ctl.json("job", "list")["jobs"]) == 2)
        ctl.wait(ctl.json("job", "list")["jobs"][0]["id"])
        browser.until(f"document.querySelector('#best h1').textContent === '{count} samples wait for a label'")
        browser.click("#best .main")
        browser.until("document.querySelectorAll('.cell img').length >= 10")
        browser.press("1", "2", "2")
        self.until_labels({self.unlabelled[i]: ["seven" if i == 0 else "eight"] for i in range(3)})
        browser.press("u")
        self.until_labels({self.unlabelled[2]: []})
        browser.click("#done")
        browser.until("document.querySelector('.over h1')?.textContent === '2 samples have new labels'")
        end = browser.text(".over")
        for words in ("1seven", "1eight", "moilctl learn", f"{count - 2} samples are still without a label", "can be closed"):
            self.assertIn(words, end)
        self.keep_picture(browser, "end")
        self.assertEqual(review.process.wait(timeout=10), 0)
        self.assertEqual(browser.complaints(), [])

    @unittest.skipIf(missing(), missing())
    def test_done_and_a_closed_page_end_what_the_model_is_asked(self) -> None:
        self.daemon.stop()
        waits = world.new_folder("slow")  # a worker that looks for doubts or proposals goes on for ever
        slow = worker_script(waits / "worker", 'case "$*" in *--suggest*|*--audit*) exec sleep 600;; esac')
        self.daemon.config["worker"] = {**self.daemon.config.get("worker", {}), "path": str(slow)}
        self.daemon.start()
        review, browser = self.review("--no-open"), self.browser()
        browser.open(review.address)
        wait_for("the model's worker", lambda: self.daemon.workers())
        browser.open("about:blank?")
        wait_for("it to be gone with the page", lambda: not self.daemon.workers())
        self.assertIsNone(review.process.poll(), "the review goes on")
        review.end()
        review = self.review("--no-open")
        browser.open(review.address)
        wait_for("the model's worker", lambda: self.daemon.workers())
        browser.complaints()
        browser.click("#done")
        browser.until("document.querySelector('.over h1')?.textContent === 'Nothing changed'")
        self.assertEqual(review.process.wait(timeout=10), 0)
        wait_for("the worker to be gone with the review", lambda: not self.daemon.workers())
        self.assertEqual(browser.complaints(), [])

    @unittest.skipIf(missing(), missing())
    def test_a_sample_gets_several_labels_of_a_model_that_tags(self) -> None:
        tagging, name = world.new_folder("tags") / "model", self.unlabelled
        shutil.copytree(world.pretrained.model, tagging)
        (tagging / "task.json").write_text('{"task": "tag"}')
        ctl_of(self.daemon).import_model(tagging, "tags")
        review, browser = self.review("--no-open", "--model", "tags"), self.browser()
        open_tab(browser, review)
        browser.until("document.querySelectorAll('.cell img').length >= 10 && document.querySelector('.proposed, .unsure')")
        browser.until("document.querySelector('#model').textContent === ''")
        browser.press("1", "2")
        self.until_labels({name[0]: ["eight", "seven"]})
        browser.until("document.querySelector('.cell.cursor').id === 'cell-0'")
        browser.press("1")
        self.until_labels({name[0]: ["eight"]})
        browser.press("u")
        self.until_labels({name[0]: ["eight", "seven"]})
        browser.press("n")
        self.until_labels({name[0]: ["something else"]})
        # What not all of several have, they all get.
        browser.press("Home", "ArrowRight")
        browser.press("1")
        browser.press("ArrowRight", hold="Shift")
        browser.press("2", "1")
        self.until_labels({name[1]: ["eight", "seven"], name[2]: ["eight", "seven"]})
        self.assertEqual(browser.complaints(), [])

    @unittest.skipIf(missing(), missing())
    def test_who_may_not_see_it_is_told_how_to_begin(self) -> None:
        review, browser = self.review("--no-open"), self.browser()
        browser.open(f"http://127.0.0.1:{review.port}/#0000")
        browser.until("document.querySelector('.over h1')?.textContent === 'This page is closed'")
        self.assertIn("moilctl label review", browser.text(".over"))
        self.keep_picture(browser, "closed")

    @unittest.skipIf(missing(), missing())
    def test_it_fits_each_window(self) -> None:
        """Tiles are squares of about 200 pixels that fill the window, and nothing lies beside it."""
        review = self.review("--no-open")
        for width, height in ((390, 844), (1366, 768), (2560, 1440)):
            browser = self.browser((width, height))
            browser.open(review.address)
            browser.until("document.querySelector('#best .main')")
            self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), width, "at home")
            browser.click("[data-tab=unlabelled]")
            browser.until("document.querySelectorAll('.cell img').length >= 4")
            self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), width)
            browser.until("document.querySelector('#cell-0 img')")
            box = browser.run("(({width, height}) => [width, height])(document.querySelector('#cell-0 .picture').getBoundingClientRect())")
            self.assertAlmostEqual(box[0], box[1], delta=1)
            self.assertTrue(150 <= box[0] <= 260, box)
            self.assertEqual(browser.run("getComputedStyle(document.querySelector('#cell-0 img')).objectFit"), "cover")
            last = "Math.max(...[...document.querySelectorAll('.cell')].map((cell) => cell.getBoundingClientRect().right))"
            right = browser.run(last)
            self.assertTrue(width - 40 < right <= width, f"they fill the window of {width}, and no more: {right}")
            for dark in (False, True):
                browser.show_in(dark=dark)
                browser.run("new Promise((done) => setTimeout(done, 500))")  # colours come in a few milliseconds
                self.assertEqual(browser.run(FAINT), [], "what has less contrast than 4.5 is hard to read")
            review.token = browser.run("location.hash.slice(1)")
            review.address = f"http://127.0.0.1:{review.port}/#{review.token}"

    @unittest.skipIf(missing(), missing())
    def test_a_phone_through_a_tunnel(self) -> None:
        own = str(free_port())
        review, browser = self.review("--no-open", "--port", own), self.browser(PHONE, touch=True)
        self.assertEqual(str(review.port), own)
        with tunnel(review.port) as port:
            browser.open(f"http://localhost:{port}/#{review.token}")
            browser.until("document.querySelector('#best .main')")
            self.keep_picture(browser, "phone-home")
            browser.click("[data-tab=unlabelled]")
            browser.until("document.querySelectorAll('.cell img').length >= 4")
            browser.until("document.querySelector('.proposed, .unsure')")
            self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), PHONE[0])
            self.assertGreater(browser.run("document.querySelector('#grid').clientHeight"), PHONE[1] / 2)
            self.keep_picture(browser, "phone-light")
            # A tap shows it large; the mark in its corner selects, and then taps do.
            browser.click("#cell-0")
            browser.until("!document.querySelector('#large').hidden")
            browser.until("document.querySelector('#large-picture').naturalWidth > 0")
            self.keep_picture(browser, "phone-large")
            browser.click("#large-close")
            browser.until("document.querySelector('#large').hidden")
            browser.click("#cell-0 .check")
            browser.click("#cell-3")
            self.assertIn("2 of", browser.text("#status"))
            browser.show_in(dark=True)
            self.keep_picture(browser, "phone-dark")
            browser.click("#labels button:nth-child(2)")
            self.until_labels({self.unlabelled[i]: ["eight"] if i in (0, 3) else [] for i in range(5)})
            browser.click("#undo")
            browser.until("document.querySelector('#status').textContent === 'undone: 2 samples'")
            self.until_labels({self.unlabelled[i]: [] for i in range(5)})
            browser.click("#cell-1")
            browser.click("#proposals button")
            wait_for("a proposal", lambda: self.labels()[self.unlabelled[1]] != [])
            self.assertEqual(browser.complaints(), [])

    def test_a_terminal(self) -> None:
        with terminal(self.daemon, "label", "review", "--terminal") as (answer, told):
            told.until(f"1/{len(self.unlabelled)}")
            answer("seven\n\nnonsense \nu\neight\nq\n")
            told.until(f"2 of {len(self.unlabelled)} labelled")
        name = self.unlabelled
        self.until_labels({name[0]: ["seven"], name[1]: [], name[2]: ["eight"], name[3]: []})
        self.assertRegex(told.text, r"\d\*")  # the model's proposals

    def test_who_shows_no_secret_is_refused(self) -> None:
        """Whom else: tests/daemon/review."""
        review = self.review("--no-open")
        self.assertEqual(review.ask("/api/labels", {})[0], 403)
        self.assertEqual(review.ask("/api/labels", {}, secret=review.secret())[0], 200)
        # Nothing listens where another device could knock.
        listens = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
                   if line.split()[3] == "0A" and int(line.split()[1].partition(":")[2], 16) == review.port]
        self.assertEqual([address.partition(":")[0] for address in listens], ["0100007F"])

    def test_a_browser_is_opened_by_a_file_of_the_users(self) -> None:
        folder = world.new_folder("desktop")
        opener = folder / "xdg-open"
        # As a browser that is begun by it, which stays.
        opener.write_text(f'#!/bin/sh\necho $$ > {folder}/pid\nls -ld "$(dirname "$1")" > {folder}/modes\n'
                          f'cp "$1" {folder}/page && touch {folder}/opened\nexec sleep 60\n')
        opener.chmod(0o755)
        review = self.review(environment={"DISPLAY": ":77", "PATH": f"{folder}:{os.environ['PATH']}",
                                          "XDG_RUNTIME_DIR": str(folder)})
        wait_for("the browser", (folder / "opened").exists)
        self.addCleanup(os.kill, int((folder / "pid").read_text()), 9)
        self.assertIn(review.address, (folder / "page").read_text())
        self.assertTrue((folder / "modes").read_text().startswith("drwx------"))
        commands = b"".join(file.read_bytes() for file in readable(Path("/proc").glob("[0-9]*/cmdline")))
        self.assertNotIn(review.token.encode(), commands, "every user can read command lines")
        self.assertTrue(review.secret())
        review.end()
        self.assertEqual(list(folder.glob("moil-review-*")), [])
        self.assertEqual(review.process.returncode, 0)

    def test_scripts_of_the_page_import_in_a_line(self) -> None:
        page = ROOT / "daemon" / "review" / "page"
        imports = {file.name: set(re.findall(r"from '\./(\S+)'", file.read_text())) for file in page.glob("*.js")}
        while leaves := [name for name, wanted in imports.items() if not wanted & imports.keys()]:
            for name in leaves:
                del imports[name]
        self.assertEqual(imports, {}, "they are in a circle, or import one that is")

    def test_no_other_program_has_a_web_server(self) -> None:
        for name in ("moild", "moil-worker", "moilctl", "moil-review"):
            loads = run(["ldd", program(name)])
            self.assertEqual("httplib" in loads, name == "moil-review", loads)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "another user can be tried by root alone")
    def test_a_second_user(self) -> None:
        review = self.review("--no-open")
        asks = ("import sys, urllib.request, urllib.error\n"
                "try: urllib.request.urlopen(sys.argv[1], b'{}'); print(200)\n"
                "except urllib.error.HTTPError as error: print(error.code)\n")
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        address = review.address.partition("#")[0] + "api/labels"
        self.assertEqual(run([*nobody, sys.executable, "-c", asks, address]).strip(), "403")
        environment = subprocess.run([*nobody, "cat", f"/proc/{review.process.pid}/environ"], capture_output=True)
        self.assertNotEqual(environment.returncode, 0)
        # The one whose page it is comes in afterwards.
        self.assertTrue(review.secret())

    @unittest.skipIf(missing(), missing())
    def test_other_servers_of_the_machine_learn_nothing(self) -> None:
        review, browser = self.review("--no-open"), self.browser()
        open_tab(browser, review)
        browser.until("document.querySelectorAll('.cell img').length >= 6")
        with another_server() as (port, told):
            browser.open(f"http://127.0.0.1:{port}/")
            browser.open(f"http://localhost:{port}/page")
            wait_for("both pages", lambda: len([line for line in told if line.startswith("GET")]) >= 2)
        said = "\n".join(told)
        self.assertNotIn("cookie", said.lower())
        self.assertNotRegex(said, r"[0-9a-f]{64}")
        self.assertNotIn("Moil-Review", said)


class ThousandsTest(Case):
    @unittest.skipIf(missing(), missing())
    def test_ten_thousand_scroll_by(self) -> None:
        self.daemon = many.result()
        review, browser = self.review("--no-open"), self.browser()
        open_tab(browser, review)
        browser.until(f"document.querySelector('#unlabelled-count').textContent === '{MANY:,}'")
        rows = f"document.querySelector('.cell').getAttribute('aria-setsize') === '{MANY}'"
        browser.until(f"document.querySelector('.cell') && {rows}")
        browser.until("document.querySelector('.cell img')")
        browser.run("window.gaps = []; window.most = 0; let last = performance.now(); (function frame() {"
                    " const now = performance.now(); gaps.push(now - last); last = now;"
                    " most = Math.max(most, document.querySelectorAll('*').length); requestAnimationFrame(frame) })()")
        begun = time.monotonic()
        end = "grid.scrollTop + grid.clientHeight >= grid.scrollHeight - 1"
        while not browser.run(end):
            for _ in range(20):
                browser.wheel("#grid", 1500)
            self.assertLess(time.monotonic() - begun, 60, "it does not come to the end")
        seconds = time.monotonic() - begun
        gaps = sorted(browser.run("gaps"))
        worst, usual = gaps[-1], gaps[len(gaps) * 95 // 100]
        print(f"{MANY} samples scrolled by in {seconds:.1f} s, {len(gaps)} frames: the worst gap is {worst:.0f} ms, "
              f"95 of 100 are at most {usual:.0f} ms", file=sys.stderr)
        self.assertLess(worst, WORST_GAP)
        self.assertLess(usual, USUAL_GAP)
        self.assertLess(browser.run("most"), 2000, "elements for what is seen alone")
        browser.until(f"document.getElementById('cell-{MANY - 1}')?.querySelector('img')")
        # Some hundred are decided at once, and taken back.
        browser.press("End")
        browser.press(*["PageUp"] * 24, hold="Shift")
        browser.press("Enter", *"thing", "Enter", "Enter")
        browser.until(f"Number(document.querySelector('#unlabelled-count').textContent.replace(',', '')) < {MANY - 200}")
        browser.press("u")
        browser.until(f"document.querySelector('#unlabelled-count').textContent === '{MANY:,}'")
        self.keep_picture(browser, "many")


def short(file: str | Path) -> str:
    """Its name and its folder's."""
    return "/".join(Path(file).parts[-2:])


def readable(files: Iterator[Path]) -> Iterator[Path]:
    """Those of processes that have not ended meanwhile."""
    for file in files:
        with contextlib.suppress(OSError):
            file.read_bytes()
            yield file


@contextlib.contextmanager
def another_server() -> Iterator[tuple[int, list[str]]]:
    """Somebody else's web server on the same machine, and all that it is told."""
    told: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.extend([self.requestline, *map(": ".join, self.headers.items())])
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], told
        server.shutdown()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextlib.contextmanager
def tunnel(port: int) -> Iterator[int]:
    """Another port that leads to this one, as `ssh -L` makes it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_accept, args=(server, port), daemon=True).start()
        yield server.getsockname()[1]


def _accept(server: socket.socket, port: int) -> None:
    with contextlib.suppress(OSError):
        while True:
            near, far = server.accept()[0], socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=_carry, args=(near, far), daemon=True).start()


def _carry(near: socket.socket, far: socket.socket) -> None:
    """Both ways, until one of them ends."""
    with near, far, contextlib.suppress(OSError):
        while True:
            for one in select.select([near, far], [], [])[0]:
                data = one.recv(1 << 16)
                if not data:
                    return
                (far if one is near else near).sendall(data)


class Told:
    """What a program has written to its terminal."""

    def __init__(self, descriptor: int):
        self.text = ""
        self._descriptor = descriptor

    def until(self, words: str, seconds: float = 60) -> None:
        give_up = time.monotonic() + seconds
        while words not in self.text:
            ready, _, _ = select.select([self._descriptor], [], [], max(0.0, give_up - time.monotonic()))
            if not ready:
                raise AssertionError(f"not told within {seconds:.0f} s: {words}\n{self.text}")
            self.text += os.read(self._descriptor, 1 << 16).decode()


@contextlib.contextmanager
def terminal(daemon: Daemon, *words: str) -> Iterator[tuple[Any, Told]]:
    """moilctl on a terminal of its own: what writes keys to it, and what it tells."""
    ours, its = pty.openpty()
    command = [str(program("moilctl")), "--socket", str(daemon.socket), *words]
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its)
    os.close(its)
    try:
        yield lambda text: os.write(ours, text.encode()), Told(ours)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


if __name__ == "__main__":
    unittest.main()
