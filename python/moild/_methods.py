"""The methods of moild's protocol. Made by scripts/python-methods; docs/protocol.md says what they do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

Json = dict[str, Any]


def _given(params: Json) -> Json:
    return {name: value for name, value in params.items() if value is not None}


class Methods(ABC):
    """What is None is not sent, unless it must be given."""

    @abstractmethod
    def ask(self, method: str, params: Json | None = None, descriptors: Sequence[int] = ()) -> Json: ...

    def job_submit(self, *, job: Json, now: bool | None = None) -> Json:
        """job.submit: queue a job (role operate, since 0.1)."""
        return self.ask("job.submit", {"job": job, **_given({"now": now})})

    def job_plan(self, *, job: Json, picture: bool | None = None, processors: str | None = None, timing: bool | None = None) -> Json:
        """job.plan: what a job would need (role operate, since 0.1)."""
        return self.ask("job.plan", {"job": job, **_given({"picture": picture, "processors": processors, "timing": timing})})

    def job_list(self, *, before: int | None = None, details: bool | None = None, limit: int | None = None, state: Literal["queued", "running", "succeeded", "failed", "cancelled", "rejected-by-guard"] | None = None) -> Json:
        """job.list: jobs, newest first (role read, since 0.1)."""
        return self.ask("job.list", _given({"before": before, "details": details, "limit": limit, "state": state}))

    def job_get(self, *, id: int, details: bool | None = None, since: int | None = None) -> Json:
        """job.get: one job with its events (role read, since 0.1)."""
        return self.ask("job.get", {"id": id, **_given({"details": details, "since": since})})

    def job_details(self, *, id: int, list: str, from_: int | None = None) -> Json:
        """job.details: a long list of a job's result, in parts (role read, since 0.2)."""
        return self.ask("job.details", {"id": id, "list": list, **_given({"from": from_})})

    def job_cancel(self, *, id: int) -> Json:
        """job.cancel: cancel a job (role operate, since 0.1)."""
        return self.ask("job.cancel", {"id": id})

    def job_retry(self, *, id: int) -> Json:
        """job.retry: queue a job again that failed (role operate, since 0.2)."""
        return self.ask("job.retry", {"id": id})

    def job_rm(self, *, id: int) -> Json:
        """job.rm: remove a job that has ended, and what is known of it (role operate, since 0.2)."""
        return self.ask("job.rm", {"id": id})

    def job_watch(self, *, id: int, since: int | None = None) -> Json:
        """job.watch: follow a job (role read, since 0.1)."""
        return self.ask("job.watch", {"id": id, **_given({"since": since})})

    def schedule_add(self, *, schedule: Json) -> Json:
        """schedule.add: have a job come back by itself (role operate, since 0.2)."""
        return self.ask("schedule.add", {"schedule": schedule})

    def schedule_list(self, *, after: str | None = None) -> Json:
        """schedule.list: recurring nights, and when each comes next (role read, since 0.2)."""
        return self.ask("schedule.list", _given({"after": after}))

    def schedule_get(self, *, name: str) -> Json:
        """schedule.get: one of them whole (role read, since 0.2)."""
        return self.ask("schedule.get", {"name": name})

    def schedule_enable(self, *, enabled: bool, name: str) -> Json:
        """schedule.enable: let it come, or rest (role operate, since 0.2)."""
        return self.ask("schedule.enable", {"enabled": enabled, "name": name})

    def schedule_rm(self, *, name: str) -> Json:
        """schedule.rm: remove one; its jobs stay (role operate, since 0.2)."""
        return self.ask("schedule.rm", {"name": name})

    def schedule_run(self, *, name: str) -> Json:
        """schedule.run: queue its job now (role operate, since 0.2)."""
        return self.ask("schedule.run", {"name": name})

    def label_add(self, *, samples: Sequence[Json], as_spelled: bool | None = None, dry_run: bool | None = None, labels: Sequence[str] | None = None, split: Literal["train", "val"] | None = None, step: str | None = None, descriptors: Sequence[int] = ()) -> Json:
        """label.add: add samples under labels (role label, since 0.1)."""
        return self.ask("label.add", {"samples": samples, **_given({"as_spelled": as_spelled, "dry_run": dry_run, "labels": labels, "split": split, "step": step})}, descriptors)

    def label_list(self, *, after: str | None = None, limit: int | None = None) -> Json:
        """label.list: labels with their numbers of samples (role read, since 0.1)."""
        return self.ask("label.list", _given({"after": after, "limit": limit}))

    def label_rm(self, *, label: str, step: str | None = None, with_samples: bool | None = None) -> Json:
        """label.rm: remove a label (role label, since 0.1)."""
        return self.ask("label.rm", {"label": label, **_given({"step": step, "with_samples": with_samples})})

    def label_rename(self, *, from_: str, to: str, as_spelled: bool | None = None) -> Json:
        """label.rename: rename a label (role label, since 0.1)."""
        return self.ask("label.rename", {"from": from_, "to": to, **_given({"as_spelled": as_spelled})})

    def label_map(self, *, after: str | None = None, as_spelled: bool | None = None, global_: Sequence[str] | None = None, label: str | None = None) -> Json:
        """label.map: which global labels a local label stands for (role label, since 0.1)."""
        return self.ask("label.map", _given({"after": after, "as_spelled": as_spelled, "global": global_, "label": label}))

    def label_relabel(self, *, digest: str, labels: Sequence[str], as_spelled: bool | None = None) -> Json:
        """label.relabel: replace a sample's labels (role label, since 0.1)."""
        return self.ask("label.relabel", {"digest": digest, "labels": labels, **_given({"as_spelled": as_spelled})})

    def label_forget(self, *, digest: str | None = None, digests: Sequence[str] | None = None) -> Json:
        """label.forget: forget samples and all that was made of them (role label, since 0.1)."""
        return self.ask("label.forget", _given({"digest": digest, "digests": digests}))

    def label_samples(self, *, after: int | None = None, label: str | None = None, limit: int | None = None, split: Literal["train", "val"] | None = None, unlabelled: bool | None = None) -> Json:
        """label.samples: samples in the order they were added (role read, since 0.1)."""
        return self.ask("label.samples", _given({"after": after, "label": label, "limit": limit, "split": split, "unlabelled": unlabelled}))

    def label_content(self, *, digest: str, offset: int | None = None) -> Json:
        """label.content: what a sample's file holds (role read, since 0.2)."""
        return self.ask("label.content", {"digest": digest, **_given({"offset": offset})})

    def label_assign(self, *, label: str | None, samples: Sequence[str], as_spelled: bool | None = None, labels: Sequence[str] | None = None, step: str | None = None) -> Json:
        """label.assign: give samples a label, or none (role label, since 0.2)."""
        return self.ask("label.assign", {"label": label, "samples": samples, **_given({"as_spelled": as_spelled, "labels": labels, "step": step})})

    def label_merge(self, *, from_: str, into: str, as_spelled: bool | None = None, step: str | None = None) -> Json:
        """label.merge: give a label's samples to another label (role label, since 0.2)."""
        return self.ask("label.merge", {"from": from_, "into": into, **_given({"as_spelled": as_spelled, "step": step})})

    def label_undo(self, *, step: str | None = None, with_samples: bool | None = None) -> Json:
        """label.undo: take back the last change of labels (role label, since 0.2)."""
        return self.ask("label.undo", _given({"step": step, "with_samples": with_samples}))

    def label_preview(self, *, digests: Sequence[str], size: int | None = None) -> Json:
        """label.preview: small pictures of samples (role read, since 0.2)."""
        return self.ask("label.preview", {"digests": digests, **_given({"size": size})})

    def label_cut(self, *, from_: float, to: float, as_spelled: bool | None = None, content: str | None = None, file: int | None = None, labels: Sequence[str] | None = None, name: str | None = None, split: Literal["train", "val"] | None = None, step: str | None = None, descriptors: Sequence[int] = ()) -> Json:
        """label.cut: add a piece of a recording under labels (role label, since 0.2)."""
        return self.ask("label.cut", {"from": from_, "to": to, **_given({"as_spelled": as_spelled, "content": content, "file": file, "labels": labels, "name": name, "split": split, "step": step})}, descriptors)

    def model_import(self, *, name: str, path: str, activate: bool | None = None, files: Any = None, pack: str | None = None, descriptors: Sequence[int] = ()) -> Json:
        """model.import: take a model from a folder (role admin, since 0.1)."""
        return self.ask("model.import", {"name": name, "path": path, **_given({"activate": activate, "files": files, "pack": pack})}, descriptors)

    def model_list(self, *, after: str | None = None, limit: int | None = None, model: str | None = None) -> Json:
        """model.list: models and their versions (role read, since 0.1)."""
        return self.ask("model.list", _given({"after": after, "limit": limit, "model": model}))

    def model_get(self, *, model: str, version: int | None = None) -> Json:
        """model.get: one version, by default the active one (role read, since 0.1)."""
        return self.ask("model.get", {"model": model, **_given({"version": version})})

    def model_activate(self, *, model: str, version: int | None = None) -> Json:
        """model.activate: put a version in service (role operate, since 0.1)."""
        return self.ask("model.activate", {"model": model, **_given({"version": version})})

    def model_rollback(self, *, model: str, version: int | None = None, why: str | None = None) -> Json:
        """model.rollback: go back to the version before (role operate, since 0.1)."""
        return self.ask("model.rollback", {"model": model, **_given({"version": version, "why": why})})

    def model_rm(self, *, model: str, version: int | None = None, whole: bool | None = None) -> Json:
        """model.rm: remove a version that is not in service, or a model (role admin, since 0.1)."""
        return self.ask("model.rm", {"model": model, **_given({"version": version, "whole": whole})})

    def model_pin(self, *, model: str, version: int, pinned: bool | None = None) -> Json:
        """model.pin: keep a version, however old it becomes (role admin, since 0.2)."""
        return self.ask("model.pin", {"model": model, "version": version, **_given({"pinned": pinned})})

    def model_anchor(self, *, model: str, version: int | None = None) -> Json:
        """model.anchor: the version that no night may fall far behind (role admin, since 0.2)."""
        return self.ask("model.anchor", {"model": model, **_given({"version": version})})

    def model_predict(self, *, images: Sequence[Json], model: str | None = None, timeline: bool | None = None, top: int | None = None, descriptors: Sequence[int] = ()) -> Json:
        """model.predict: what a model says of images (role label, since 0.1)."""
        return self.ask("model.predict", {"images": images, **_given({"model": model, "timeline": timeline, "top": top})}, descriptors)

    def model_listen(self, *, file: int, every: float | None = None, false_accepts: float | None = None, labels: Sequence[str] | None = None, model: str | None = None, name: str | None = None, rate: int | None = None, threshold: float | None = None, descriptors: Sequence[int] = ()) -> Json:
        """model.listen: what a model hears in a sound while it comes (role label, since 0.2)."""
        return self.ask("model.listen", {"file": file, **_given({"every": every, "false_accepts": false_accepts, "labels": labels, "model": model, "name": name, "rate": rate, "threshold": threshold})}, descriptors)

    def model_diff(self, *, a: int, b: int, model: str, from_: int | None = None) -> Json:
        """model.diff: what tells two versions apart (role label, since 0.2)."""
        return self.ask("model.diff", {"a": a, "b": b, "model": model, **_given({"from": from_})})

    def model_export(self, *, file: int, model: str, format: str | None = None, version: int | None = None, descriptors: Sequence[int] = ()) -> Json:
        """model.export: write a version as ONNX or TensorFlow Lite (role label, since 0.2)."""
        return self.ask("model.export", {"file": file, "model": model, **_given({"format": format, "version": version})}, descriptors)

    def pack_import(self, *, files: Any, name: str, path: str | None = None, descriptors: Sequence[int] = ()) -> Json:
        """pack.import: copy a global pack into the state folder (role admin, since 0.2)."""
        return self.ask("pack.import", {"files": files, "name": name, **_given({"path": path})}, descriptors)

    def pack_list(self) -> Json:
        """pack.list: packs in the state folder (role read, since 0.2)."""
        return self.ask("pack.list")

    def pack_rm(self, *, name: str) -> Json:
        """pack.rm: remove a pack that nothing mixes from (role admin, since 0.2)."""
        return self.ask("pack.rm", {"name": name})

    def model_learn(self, *, model: str, labels: Sequence[str] | None = None, pack: str | None = None) -> Json:
        """model.learn: learn new labels at once (role operate, since 0.2)."""
        return self.ask("model.learn", {"model": model, **_given({"labels": labels, "pack": pack})})

    def label_audit(self, *, model: str, limit: int | None = None, progress: bool | None = None) -> Json:
        """label.audit: labels that are likely wrong (role label, since 0.2)."""
        return self.ask("label.audit", {"model": model, **_given({"limit": limit, "progress": progress})})

    def label_suggest(self, *, model: str, limit: int | None = None, progress: bool | None = None) -> Json:
        """label.suggest: what a model proposes for unlabelled samples (role label, since 0.2)."""
        return self.ask("label.suggest", {"model": model, **_given({"limit": limit, "progress": progress})})

    def label_meanings(self, *, model: str, progress: bool | None = None) -> Json:
        """label.meanings: global labels that local ones may mean (role label, since 0.2)."""
        return self.ask("label.meanings", {"model": model, **_given({"progress": progress})})

    def cache_stats(self, *, after: str | None = None) -> Json:
        """cache.stats: what the feature cache holds (role read, since 0.1)."""
        return self.ask("cache.stats", _given({"after": after}))

    def cache_gc(self, *, all: bool | None = None) -> Json:
        """cache.gc: remove feature maps of backbones no longer used (role admin, since 0.1)."""
        return self.ask("cache.gc", _given({"all": all}))

    def cache_verify(self, *, repair: bool | None = None) -> Json:
        """cache.verify: check every feature map's checksum (role admin, since 0.1)."""
        return self.ask("cache.verify", _given({"repair": repair}))

    def system_status(self) -> Json:
        """system.status: how the daemon and the device are (role read, since 0.1)."""
        return self.ask("system.status")

    def system_overview(self) -> Json:
        """system.overview: what runs, waits, was and comes (role read, since 0.2)."""
        return self.ask("system.overview")

    def system_metrics(self) -> Json:
        """system.metrics: figures for Prometheus (role read, since 0.2)."""
        return self.ask("system.metrics")

    def system_doctor(self) -> Json:
        """system.doctor: what is wrong, and what to do about it (role operate, since 0.2)."""
        return self.ask("system.doctor")

    def system_methods(self) -> Json:
        """system.methods: the methods of this daemon (role read, since 0.1)."""
        return self.ask("system.methods")

    def system_disk(self, *, after: str | None = None) -> Json:
        """system.disk: what takes room on the disk (role read, since 0.2)."""
        return self.ask("system.disk", _given({"after": after}))

    def system_clean(self, *, dry_run: bool | None = None) -> Json:
        """system.clean: remove what is not kept, or say what that is (role admin, since 0.2)."""
        return self.ask("system.clean", _given({"dry_run": dry_run}))

    def system_backup(self, *, file: int, progress: bool | None = None, descriptors: Sequence[int] = ()) -> Json:
        """system.backup: write all that cannot be made again to a file (role admin, since 0.2)."""
        return self.ask("system.backup", {"file": file, **_given({"progress": progress})}, descriptors)

    def system_restore(self, *, file: int, progress: bool | None = None, descriptors: Sequence[int] = ()) -> Json:
        """system.restore: put a backup in place of the state (role admin, since 0.2)."""
        return self.ask("system.restore", {"file": file, **_given({"progress": progress})}, descriptors)
