"""A probe outlives its candidates: a crash, a hang or a lie costs only the one."""

import pytest

from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.synthesis import probe as module
from cuda_agent.synthesis.probe import Probe, ProbeError
from cuda_agent.synthesis.questions import Examine, Examined, Measure, Timed
from cuda_agent.tasks.target import Target
from tests.synthesis.conftest import GOOD


def examine(probe: Probe, code: str, *, timeout_s: float = 60.0) -> Examined:
    return probe.ask(Examine(code=code, seed=1), Examined, timeout_s=timeout_s)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (GOOD.replace("torch.tanh(x)", "torch.tanh(x) @ x"), "RuntimeError: mat1 and mat2"),
        (GOOD.replace("torch.tanh(x)", "__import__('os')._exit(0)"), "did not answer"),
        (GOOD + "\nimport ctypes\nctypes.string_at(0)\n", "did not answer"),
        (GOOD + "\nraise KeyError('no')\n", "KeyError: 'no'"),
    ],
)
def test_a_failing_candidate_costs_only_itself(probe: Probe, changed: str, words: str) -> None:
    with pytest.raises(ProbeError, match=words):
        examine(probe, changed)
    assert examine(probe, GOOD).is_deterministic


def test_a_hanging_candidate_is_killed(probe: Probe) -> None:
    assert examine(probe, GOOD).is_deterministic
    with pytest.raises(ProbeError, match="no answer within 1"):
        examine(probe, GOOD + "\nwhile True: pass\n", timeout_s=1.0)
    assert examine(probe, GOOD).is_deterministic


def test_what_was_examined_can_be_timed(probe: Probe) -> None:
    examine(probe, GOOD)
    assert 0.0 < probe.ask(Measure(is_compiled=False), Timed, timeout_s=30.0).median_ms < 1000.0


def test_a_probe_uses_the_cores_that_a_container_gives(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "count_cores", lambda: 3)
    asked = "os.environ['OMP_NUM_THREADS'], torch.get_num_threads()"
    telling = f"{GOOD}\nimport os\nraise KeyError({asked})\n"
    with (
        Probe(sandbox=sandbox, target=Target.CPU) as probe,
        pytest.raises(ProbeError, match=r"KeyError: \('3', 3\)"),
    ):
        examine(probe, telling)


def test_a_closed_probe_starts_nothing(sandbox: object) -> None:
    probe = Probe(sandbox=sandbox, target="cpu")  # type: ignore[arg-type]
    probe.close()
    with pytest.raises(ProbeError, match="closed"):
        examine(probe, GOOD)
