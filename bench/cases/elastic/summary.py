"""What the seeds of one way of training come to together."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, median

from lib.results import Mean, mean_of

from .jobs import Trial

FULLY_USED = 0.9  # of ρ times the seconds of full training: what is below needs a reason


@dataclass(frozen=True)
class Summary:
    method: str
    rho: float | None
    results: list[Trial]

    @property
    def done(self) -> list[Trial]:
        """Those that were not refused."""
        return [r for r in self.results if r.seconds is not None]

    @property
    def seconds(self) -> float | None:
        return self._mean("seconds").value if self.done else None

    @property
    def accuracies(self) -> list[float]:
        return [r.accuracy for r in self.done if r.accuracy is not None]

    @property
    def accuracy(self) -> float | None:
        return self._mean("accuracy").value if self.accuracies else None

    @property
    def mark(self) -> str:
        """Stands behind means of accuracies if some of the models were kept back."""
        return self._mean("seconds").mark if self.done else ""

    @property
    def global_accuracy(self) -> float | None:
        """For the classes that were known before, if they are judged."""
        return self._mean("global_after").value if any(r.global_after is not None for r in self.done) else None

    def _mean(self, figure: str) -> Mean:
        return mean_of([r.promoted for r in self.done], [getattr(r, figure) for r in self.done])

    @property
    def spread(self) -> float:
        return max(self.accuracies) - min(self.accuracies) if self.accuracies else 0.0

    @property
    def planned_bytes(self) -> int | None:
        return max((r.planned_bytes for r in self.done if r.planned_bytes), default=None)

    @property
    def peak_bytes(self) -> int | None:
        return max((r.peak_bytes for r in self.done if r.peak_bytes), default=None)

    @property
    def choosing_shares(self) -> list[float]:
        return [r.choosing_share for r in self.done if r.choosing_share is not None]

    @property
    def remarks(self) -> list[str]:
        return list(dict.fromkeys(r.remark for r in self.results if r.remark))

    @property
    def forward_share(self) -> float | None:
        return max((r.elastic["forward_share"] for r in self.done if r.elastic), default=None)

    @property
    def smallest_rho(self) -> float | None:
        return max((r.elastic["smallest_rho"] for r in self.done if r.elastic), default=None)

    def remarks_beside(self, full: Summary | None) -> list[str]:
        """The jobs' remarks, else a remark if time stayed below what ρ allows though their profiles used it up."""
        share = self.share_of(full) if full else None
        if self.remarks or not full or not self.rho or not share or share >= FULLY_USED * self.rho:
            return self.remarks
        told = [r.elastic for r in self.done if r.elastic]
        used, profiled = mean(e["used_of_rho"] for e in told), mean(e["full_step_seconds"] for e in told)
        beside = self._beside(full)
        taken = median(beside[r.seed] / r.elastic["steps"] for r in self.done if r.elastic and r.seed in beside)
        return [
            f"the profiles give {100 * used:.0f} % of what ρ allows to steps; they say {1000 * profiled:.0f} ms of a full step, which took {1000 * taken:.0f}"
        ]

    def shares_of(self, full: Summary) -> list[float]:
        """Shares of full training's seconds with the same seed, which ran next to it: the machine's speed drifts."""
        beside = self._beside(full)
        return [r.seconds / beside[r.seed] for r in self.done if r.seconds and r.seed in beside]

    def share_of(self, full: Summary) -> float | None:
        """The median: of three jobs a disturbed one decides nothing."""
        shares = self.shares_of(full)
        return median(shares) if shares else None

    def _beside(self, full: Summary) -> dict[int, float]:
        return {r.seed: r.seconds for r in full.done if r.seconds}


def summaries(results: list[Trial]) -> list[Summary]:
    """Full training, then in the order in which the ways first came, elastic by ρ."""
    keys = sorted(dict.fromkeys((r.method, r.rho) for r in results), key=lambda key: (key[1] or 0.0, key[0] != "full"))
    return [Summary(method, rho, [r for r in results if (r.method, r.rho) == (method, rho)]) for method, rho in keys]


def find(found: list[Summary], method: str, rho: float | None = None) -> Summary | None:
    return next((s for s in found if (s.method, s.rho) == (method, rho) and s.done), None)


def by_case(results: list[Trial]) -> dict[str, list[Trial]]:
    return {case: [r for r in results if r.case == case] for case in dict.fromkeys(r.case for r in results)}
