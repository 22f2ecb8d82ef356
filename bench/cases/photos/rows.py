"""The rows of the table, beside the two nights, and what --tune tries."""

from __future__ import annotations

from dataclasses import replace

from lib.photos.rows import DEEP, DEEP_LAYERS, DEEP_NIGHT, HEAD, NIGHT, Row, Training

# As the paper trains: labels alone, batch norms and all. The marks of PyTorch take these, too.
PLAIN = Training(epochs=6, learning_rate=0.01, freeze_batch_norms=False)
HEAD_HARD = Training(epochs=20, learning_rate=0.01)
DEEP_HARD = Training(epochs=8, learning_rate=0.01)


def rows(quick: bool) -> list[Row]:
    """Cheap rows first. A quick run has what the claims are about whole, and slow rows in part."""
    n = DEEP_LAYERS
    others = [
        Row("gdm_lf1_fmc_bf16", "GDM+LF(1)+FMC in bf16", 1.0, 1, True, HEAD, dtype="bf16"),
        Row(f"gdm_lf{n}_fmc_at_once", f"GDM+LF({n})+FMC at once", 1.0, n, True, DEEP),
        Row(f"gdm_lf{n}_fmc_hard", f"GDM+LF({n})+FMC at once, labels alone", 1.0, n, True, DEEP_HARD),
    ]
    return [
        NIGHT,
        Row("gdm_lf1_fmc_hard", "GDM+LF(1)+FMC, labels alone", 1.0, 1, True, HEAD_HARD),
        Row("alpha0_lf1", "α=0, LF(1)", 0.0, 1, True, HEAD_HARD),
        DEEP_NIGHT,
        *([] if quick else others),
        Row("gdm_lf1", "GDM+LF(1)", 1.0, 1, False, HEAD, in_part=quick),
        Row("gdm", "GDM, all layers", 1.0, "all", False, PLAIN, in_part=quick),
        *([] if quick else [Row("alpha0", "α=0, all layers", 0.0, "all", False, PLAIN)]),
    ]


# What --tune tries.
GRID: list[Row] = [
    replace(NIGHT, training=replace(HEAD, learning_rate=rate, distill=distill))
    for rate in (0.01, 0.03)
    for distill in (0.0, 1.0)
] + [
    Row("deep", f"LF({layers})", 1.0, layers, True, replace(DEEP, views=views, learning_rate=rate, clip_norm=clip), after=after)
    for after in (NIGHT, None)
    for layers in (5, DEEP_LAYERS)
    for views in (1, 4)
    for rate in (0.01, 0.02)
    for clip in (None, 2.0)
]
