"""What the consumed observations of a study prove by themselves, whatever its algorithm has decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestgroup.analysis.certify import Certificate, certificate_from
from bestgroup.inference.tally import Tally

if TYPE_CHECKING:
    from bestgroup.studies.catalog import Study


def certificate_of(study: Study) -> Certificate:
    """Return the certificate of what a study has consumed so far.

    Its statements hold together with probability at least 1 - delta, and so does the study's own
    answer; the two are not the same proof.
    """
    moment = study.moment()
    tally = Tally(moment.counts.copy(), moment.sums.copy(), moment.extra.copy())
    spec = study.spec
    return certificate_from(tally, spec.problem, spec.goal, spec.delta)
