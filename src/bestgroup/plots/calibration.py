"""The figure of a calibration: error rate and pulls against the factor on the radius."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bestgroup.plots.canvas import BLUE, VERMILLION, figure, fitted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bestgroup.analysis.calibrate import Calibration


def calibration_view(calibration: Calibration) -> Figure:
    """Return two panels: the error rate with its interval against delta, and the pulls."""
    result = figure(9.6, 4.2)
    left, right = result.subplots(1, 2)
    rates = sorted(calibration.rates, key=lambda rate: rate.factor)
    factors = [rate.factor for rate in rates]
    _draw_rates(left, calibration)
    first = calibration.rates[0]
    share = [100.0 * rate.pulls / first.pulls for rate in rates]
    right.plot(factors, share, "o-", color=BLUE, markersize=6, linewidth=1.6)
    right.set_ylim(0, 1.08 * max(share))
    right.set_ylabel(f"mean pulls, % of those at factor {first.factor:g}", fontsize=12)
    for axis in (left, right):
        axis.set_xlabel("factor on the radius", fontsize=12)
        axis.set_xlim(0, 1.08 * max(factors))
        axis.grid(which="major", color="#dddddd", linewidth=0.7)
        axis.set_axisbelow(True)
        axis.tick_params(labelsize=11)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    handles, labels = left.get_legend_handles_labels()
    result.legend(
        [*handles[1:], handles[0]],  # delta last: lines are listed before error bars
        [*labels[1:], labels[0]],
        loc="outside upper center",
        ncols=3,
        frameon=False,
        fontsize=11,
    )
    return fitted(result)


def _draw_rates(axis: Any, calibration: Calibration) -> None:
    """Draw rates on a log scale; where no run erred an arrow hangs from the upper limit."""
    axis.set_yscale("log")
    erred = [rate for rate in calibration.rates if rate.errors]
    clean = [rate for rate in calibration.rates if not rate.errors]
    percent = f"{100 * calibration.level:g} % interval"
    if erred:
        axis.errorbar(
            [rate.factor for rate in erred],
            [rate.rate for rate in erred],
            yerr=[
                [rate.rate - rate.low for rate in erred],
                [rate.high - rate.rate for rate in erred],
            ],
            fmt="o",
            color=BLUE,
            markersize=6,
            capsize=4,
            elinewidth=1.5,
            label=f"error rate, {percent}",
        )
    if clean:
        highs = [rate.high for rate in clean]
        axis.errorbar(
            [rate.factor for rate in clean],
            highs,
            yerr=[0.5 * high for high in highs],
            uplims=True,
            fmt="_",
            markersize=12,
            color=BLUE,
            elinewidth=1.5,
            label="no error: at most",
        )
    axis.axhline(
        calibration.delta,
        color=VERMILLION,
        linestyle="--",
        linewidth=1.6,
        label=f"delta = {calibration.delta:g}",
    )
    axis.set_ylabel("error rate", fontsize=12)
