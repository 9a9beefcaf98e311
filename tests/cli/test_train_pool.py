"""`cuda-agent train pool`: a pool under a name, which judges for others until it is interrupted."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuda_agent.cli.train_pool import PoolOptions, serve_pool
from cuda_agent.environment.elsewhere import open_pool
from cuda_agent.environment.evaluator import make_item
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.reward import compute_reward
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import ConfigError, UserError
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.environment.conftest import KERNEL, MODEL

PATHS = os.pathsep.join(str(Path(__file__).resolve().parents[2] / part) for part in (".", "src"))


@pytest.fixture
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    runtime = {"env_vars": {"PYTHONPATH": PATHS}}
    ray.init(num_cpus=2, resources={"eval_gpu": 1}, include_dashboard=False, runtime_env=runtime)
    yield ray
    ray.shutdown()


def test_without_ray_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "cuda_agent.workers.ray_pool", raising=False)
    with pytest.raises(ConfigError, match="ray is not installed: pip install"):
        serve_pool(PoolOptions())


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_it_judges_until_it_is_interrupted(
    cluster: Any,  # noqa: ANN401
    tiny_task: Task,
) -> None:
    command = [sys.executable, "-m", "cuda_agent.cli.main", "train", "pool", "benches"]
    env = {**os.environ, "PYTHONPATH": PATHS}
    serving = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout is not None
        assert serving.stdout.readline().startswith("evaluating as ray:benches with 1 devices")
        submission = Submission({"model_new.py": MODEL.encode(), "kernels/relu_scale.cpp": KERNEL.encode()})
        item = make_item("a", tiny_task, submission=submission, target=Target.CPU)
        (outcome,) = open_pool("ray:benches").run([item])
        assert outcome.value is not None, outcome.reason
        assert compute_reward(Evaluation.model_validate(outcome.value), at_lower_bound=True) >= 1.0
    finally:
        serving.send_signal(signal.SIGINT)
        status = serving.wait()
    assert status == 130
    with pytest.raises(UserError, match="no pool named benches"):
        open_pool("ray:benches")
