"""Each kind of fault once, at random moments; faults.py does as many rounds as one likes."""

import faults
import live
from conftest import cannot


def test_no_fault_costs_a_guarantee_an_executor_too_many_or_an_orphan():
    try:
        violations, quiet = faults.run(len(faults.FAULTS), seed=2019)
    except live.Missing as missing:
        cannot(str(missing))
    print(faults.table(violations, quiet))
    assert not violations
    assert len(quiet) == len(faults.FAULTS)
