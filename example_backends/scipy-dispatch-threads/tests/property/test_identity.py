"""The outcome of any call is the same as SciPy's, bit for bit."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from scipy import ndimage
from sharing import STRATEGIES, forced, shared, why_not

from scipy_dispatch.testing import assert_identical, outcome
from scipy_dispatch.testing.strategies import calls


@pytest.mark.filterwarnings("ignore:promoting specified output dtype:UserWarning")
@pytest.mark.parametrize("key", STRATEGIES)
@given(data=st.data())
def test_any_call_has_the_outcome_that_scipy_gives_it(key: str, data: st.DataObject) -> None:
    """Calls vary in types, shapes, layouts, axes, boundary modes, origins, windows and outputs.

    Slabs may be thinner than the reach of the function.
    """
    name, _ = STRATEGIES[key]
    call = data.draw(calls(name))
    policy = forced(data.draw(st.sampled_from([2, 3, 7, 1000])))
    event(why_not(key, {"input": call.args[0], **call.kwargs}, policy) or "shared")
    assert_identical(outcome(shared(key, policy), call), outcome(getattr(ndimage, name), call))
