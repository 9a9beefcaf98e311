"""The loop of a stage: what it writes, and what a resumed run finds."""

from pathlib import Path

from cuda_agent.rl.checkpoint import find_network
from cuda_agent.rl.config import ImitateConfig, OptimiserConfig
from cuda_agent.rl.imitate import Imitation
from cuda_agent.rl.training import METRICS, End, StepRecord, cut_off, run_stage
from cuda_agent.rundir import RunDir
from tests.rl.toy import build_policy, build_sequences

CONFIG = ImitateConfig(
    steps=3, batch=4, device="cpu", save_every=2, keep=1, actor=OptimiserConfig(learning_rate=0.01)
)


def test_a_stage_leaves_curves_and_its_last_checkpoint(tmp_path: Path) -> None:
    seen: list[int] = []
    with RunDir.create(tmp_path / "run", CONFIG) as run:
        stage = Imitation(CONFIG, build_policy(), sequences=build_sequences(8))
        assert run_stage(stage, run, observe=lambda record: seen.append(record.step)) == End(3)
    assert seen == [0, 1, 2]
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == ["step-000003"]
    assert (find_network(tmp_path / "run", "actor") / "model.safetensors").exists()


def test_a_step_whose_gradient_is_not_finite_ends_the_stage(tmp_path: Path) -> None:
    policy = build_policy()
    next(policy.model.parameters()).data.fill_(float("nan"))
    with RunDir.create(tmp_path / "run", CONFIG) as run:
        end = run_stage(
            Imitation(CONFIG, policy, sequences=build_sequences(8)), run, observe=lambda record: None
        )
    assert end == End(1, "train/grad_norm is nan: a loss or a weight is not finite")
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_lines_of_steps_that_come_again_are_cut_off(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "run", CONFIG) as run:
        for step in range(4):
            run.append(METRICS, StepRecord(step=step, seconds=1.0, metrics={"a": float("nan")}))
        assert [record.step for record in cut_off(run, METRICS, kind=StepRecord, start=2)] == [0, 1]
        assert [record.step for record in run.read(METRICS, StepRecord)] == [0, 1]
