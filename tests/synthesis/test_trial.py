"""A trial on meta tensors knows shapes, bytes and operations."""

import pytest

from cuda_agent.synthesis.trial import TrialError, run_trial
from tests.synthesis.conftest import GOOD


def test_counts() -> None:
    trial = run_trial(GOOD)
    assert trial.shape == (16, 24)
    assert trial.is_floating
    assert trial.flops == 2 * 16 * 32 * 24
    linear_bytes = 4 * (16 * 32 + 32 * 24 + 24 + 16 * 24)
    assert trial.moved_bytes == linear_bytes + 4 * 2 * 16 * 24
    assert trial.operations == ("aten.addmm.default", "aten.tanh.default")
    assert not trial.is_random


def test_random_is_noticed() -> None:
    assert run_trial(GOOD.replace("torch.tanh(x)", "torch.bernoulli(x)")).is_random


def test_a_library_may_refuse_with_an_exception_of_its_own() -> None:
    raising = 'type("OwnError", (Exception,), {})("no multiple of 12")'
    text = GOOD.replace("torch.tanh(x)", f"(_ for _ in ()).throw({raising})")
    with pytest.raises(TrialError, match="OwnError: no multiple of 12"):
        run_trial(text)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (GOOD.replace("torch.tanh(x)", "x @ x"), "same reduction dim"),
        (GOOD.replace("torch.tanh(x)", "torch.nonsense(x)"), "nonsense"),
        (GOOD.replace("torch.tanh(x)", "x, x"), "not a tensor"),
    ],
)
def test_what_cannot_run(changed: str, words: str) -> None:
    with pytest.raises(TrialError, match=words):
        run_trial(changed)
