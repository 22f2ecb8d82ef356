"""What elastic training promises, held against the figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from lib.table import mib, percent

from .jobs import Trial
from .summary import Summary, by_case, find, summaries

SLACK = 1.05  # of ρ times the seconds of full training
POINT = 0.01
SELECTOR_MS = 50.0
CHOOSING_SHARE = 0.01
RHO = 0.5  # at which accuracy and memory are judged
ENOUGH_SEEDS = 3  # to judge accuracy by


@dataclass(frozen=True)
class Claim:
    case: str
    text: str
    holds: bool | None  # None: not to be judged, and `figures` says why
    figures: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def claims(results: list[Trial], benches: list[dict[str, Any]]) -> list[Claim]:
    found: list[Claim] = []
    for case, rows in by_case(results).items():
        found += [Claim(case, *judged) for judged in _of_case(summaries(rows))]
    for bench in benches:
        found += [Claim(bench["case"], *judged) for judged in _of_bench(bench)]
    return found


_Judged = tuple[str, bool | None, str]


def _of_case(ways: list[Summary]) -> Iterator[_Judged]:
    full, half = find(ways, "full"), find(ways, "elastic", RHO)
    yield from _times(ways, full)
    if full and half:
        yield _near_full(full, half)
        yield from (_not_below(other, half) for name in ("last_layer", "bn_bias") if (other := find(ways, name)))
        yield from _memory(full, half)
    yield from _choosing(ways)


def _times(ways: list[Summary], full: Summary | None) -> Iterator[_Judged]:
    elastic = [way for way in ways if way.rho]
    for way in elastic:
        text = f"at ρ = {way.rho:g} training takes at most {SLACK:g} ρ of full training's seconds"
        if not way.done:
            yield text, _refusal(way, elastic), "; ".join(way.remarks)
        elif way.forward_share is not None and way.rho <= way.forward_share:
            yield text, None, f"ρ is not above the forward share, {percent(way.forward_share)}"
        elif way.smallest_rho is not None and way.rho < way.smallest_rho:
            yield text, None, f"the least that can be trained takes {percent(way.smallest_rho)}"
        elif full and (share := way.share_of(full)):
            each = ", ".join(f"{one / way.rho:.3f}" for one in way.shares_of(full))
            yield text, share <= SLACK * way.rho, "; ".join([f"{share / way.rho:.3f} ρ in the median of {each}", *way.remarks_beside(full)])


def _refusal(way: Summary, elastic: list[Summary]) -> bool | None:
    """No fault if the other ways' profiles say that nothing can be trained in so little time."""
    smallest = max((other.smallest_rho or 0.0 for other in elastic), default=0.0)
    return None if way.rho < smallest else False


def _near_full(full: Summary, half: Summary) -> _Judged:
    text = f"at ρ = {RHO:g} accuracy is within {100 * POINT:g} point of full training's"
    return _accuracy(text, half, full, POINT)


def _not_below(other: Summary, half: Summary) -> _Judged:
    """Beyond the spread: by more than the larger of the two."""
    text = f"at ρ = {RHO:g} accuracy is not below {other.method}'s beyond their spread"
    return _accuracy(text, half, other, max(half.spread, other.spread))


def _accuracy(text: str, half: Summary, other: Summary, slack: float) -> _Judged:
    def words(way: Summary) -> str:
        return f"{percent(way.accuracy)}{way.mark} (spread {100 * way.spread:.1f})"

    seeds = min(len(half.done), len(other.done))
    holds = half.accuracy >= other.accuracy - slack if seeds >= ENOUGH_SEEDS else None
    return text, holds, f"{words(half)} against {words(other)}, {seeds} seed{'s' if seeds > 1 else ''}"


def _memory(full: Summary, half: Summary) -> Iterator[_Judged]:
    for name, kind in {"planned_bytes": "planned", "peak_bytes": "measured"}.items():
        ours, theirs = getattr(half, name), getattr(full, name)
        if ours and theirs:
            yield f"at ρ = {RHO:g} {kind} memory is below full training's", ours < theirs, f"{mib(ours)} of {mib(theirs)} MiB"


def _choosing(ways: list[Summary]) -> Iterator[_Judged]:
    """In the median of a way's seeds: in runs of ten seconds a disturbed probe is a hundredth."""
    shares = [way.choosing_shares for way in ways if way.choosing_shares]
    if shares:
        text = f"probes and selector take less than {100 * CHOOSING_SHARE:g} % of training"
        usual = max(median(of_seeds) for of_seeds in shares)
        worst = max(max(of_seeds) for of_seeds in shares)
        yield text, usual < CHOOSING_SHARE, f"{percent(usual, 2)} in the median of seeds, {percent(worst, 2)} at most"


def _of_bench(bench: dict[str, Any]) -> Iterator[_Judged]:
    slowest = max(bench["selector_ms"])
    text = f"the selector takes less than {SELECTOR_MS:g} ms at a resolution of 100,000"
    yield text, slowest < SELECTOR_MS, f"{slowest:.1f} ms, {bench['tensors']} tensors"
    for rho, share in bench.get("rho_shares", {}).items():
        if share is not None:
            text = f"at ρ = {rho} steps that take turns with full ones take at most {SLACK:g} ρ of theirs"
            yield text, share <= SLACK * float(rho), f"{share / float(rho):.3f} ρ"
