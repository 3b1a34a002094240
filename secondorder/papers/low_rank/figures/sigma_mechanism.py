"""Claim: where the objective is flat sigma bounds the step, where it is curved curvature does."""

import numpy as np

from secondorder.studies import finished, readings

from . import plateau

SIGMA = 100.0


def balance(result, sigma=SIGMA):
    """h^2 / (2 |a| c) at every iteration, c = sigma |g|^3: what (37) adds under its root. Far below
    1 the curvature h plays no part, far above 1 sigma plays none.
    """
    slope, h, norm = (np.array(result[name]) for name in ("slope", "curvature", "norm"))
    with np.errstate(divide="ignore", invalid="ignore"):
        return h**2 / (2 * np.abs(slope) * sigma * norm**3)


def flat_share(result, sigma=SIGMA):
    """Share of the iterations 0 to 99 in which the balance is below 0.01 and the rate within 2 % of
    the one without curvature, sqrt(2 |a| / (sigma |g|^3)); 0 where a run did not come so far.
    """
    slope, norm, rate = (np.array(result[name])[:100] for name in ("slope", "norm", "rate"))
    if len(rate) < 100:
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.sqrt(2 * np.abs(slope) / (sigma * norm**3))
        near = np.abs(rate / bound - 1) < 0.02
    return float(np.mean((balance(result, sigma)[:100] < 0.01) & near))


def curved_share(result, sigma=SIGMA, most=1.0):
    """Share of the iterations from 100 after leaving on in which the balance is above 1; 0 for a
    run that never left. Of these the share `most` with the largest curvature h / |g|^2 counts.
    """
    since = plateau.leave(result) + 100
    later = balance(result, sigma)[since:]
    if not len(later):
        return 0.0
    curvature = (np.array(result["curvature"]) / np.array(result["norm"])**2)[since:]
    counting = np.argsort(curvature)[len(later) - max(1, round(most * len(later))):]
    return float(np.mean(later[counting] > 1))


@plateau.on_plateau(
    "claim-sigma-mechanism", ". It was run corrected. (flat) and (curved) are judged by 95 % of "
    "the iterations", None,
    shows="The balance of curvature and sigma along the runs of Figure 2",
    claims={"flat": "on the plateau (iterations 0 to 99) sigma alone sets the step, to 2 %",
            "curved": "where the objective is curved the curvature has the larger part"},
    seconds=(70, 1))
class SigmaMechanism:
    def runs(self, settings, results):
        return plateau.compared(settings, "sgd", SIGMA, 0.1, ("exact",))

    def judge(self, results, settings):
        def nearly_always(share, **part):
            return plateau.within([share(one, **part) for one in results.of(curvature="exact")],
                                  "share of the iterations", 0.95)

        return {"flat": nearly_always(flat_share),
                "curved": readings({
                    "everywhere behind the plateau": nearly_always(curved_share),
                    "in the most curved quarter": nearly_always(curved_share, most=0.25)},
                    because="it hangs on what counts as curved")}

    def draw(self, results, figure, settings):
        axes = figure.subplots()
        for k, one in enumerate(finished(results.of(curvature="exact"))):
            axes.semilogy(balance(one), ".", color=f"C{k}", markersize=2, alpha=0.5)
            axes.axvline(plateau.leave(one), color=f"C{k}", linestyle=":", linewidth=1)
        axes.axhline(1, color="0.3", linewidth=0.8)
        axes.axhline(0.01, color="0.3", linewidth=0.8, linestyle="--")
        axes.set(xlabel="iteration (dotted: the plateau is left; a colour a seed)",
                 ylabel="h² / (2 |a| c), with (39) corrected",
                 title="below 0.01 sigma decides, above 1 the curvature")
        figure.suptitle(f"What sets the step: {plateau.title_of(settings)}, weights within ±0.1",
                        fontsize=10)
