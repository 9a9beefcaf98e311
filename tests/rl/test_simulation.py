"""A simulated rollout, against times worked out by hand."""

import pytest

from cuda_agent.rl.simulation import PlayedStep, PlayedTurn, Rollout


def play(
    episodes: list[list[PlayedTurn]], *, gpus: int = 1, cores: int = 1, is_shared: bool = False
) -> PlayedStep:
    """One token a second for each episode, or for all of them together."""
    return Rollout(
        episodes,
        tokens_per_s=lambda count: 1.0 / count if is_shared else 1.0,
        build_cores=cores,
        eval_gpus=gpus,
    ).play()


def test_one_episode_takes_the_sum_of_its_parts() -> None:
    step = play([[PlayedTurn(10.0, 2.0, 3.0), PlayedTurn(5.0)]])
    assert step.rollout_s == pytest.approx(20.0)
    assert (step.waits.generate, step.waits.build, step.waits.evaluation) == (15.0, 2.0, 3.0)
    assert (step.waits.build_queue, step.waits.evaluation_queue, step.waits.others) == (0.0, 0.0, 0.0)
    assert (step.gpu_share, step.core_share) == (0.15, 0.1)


def test_two_episodes_queue_for_one_gpu() -> None:
    # Both build until 12; the first is evaluated until 17, the second waits 5 s and ends at 22.
    step = play([[PlayedTurn(10.0, 2.0, 5.0)]] * 2, cores=2)
    assert step.rollout_s == pytest.approx(22.0)
    assert step.waits.evaluation_queue == pytest.approx(2.5)
    assert step.waits.others == pytest.approx(2.5)
    assert step.gpu_share == pytest.approx(10 / 22)
    assert play([[PlayedTurn(10.0, 2.0, 5.0)]] * 2, cores=2, gpus=2).rollout_s == pytest.approx(17.0)


def test_two_episodes_queue_for_one_core() -> None:
    # Builds end at 12 and 14, evaluations at 17 and 19.
    step = play([[PlayedTurn(10.0, 2.0, 5.0)]] * 2, gpus=2)
    assert step.rollout_s == pytest.approx(19.0)
    assert step.waits.build_queue == pytest.approx(1.0)


def test_generation_is_shared() -> None:
    # Together 20 s for the first's 10 tokens; then the second has 5 s alone for its last 5.
    step = play([[PlayedTurn(10.0)], [PlayedTurn(15.0)]], is_shared=True)
    assert step.rollout_s == pytest.approx(25.0)
    assert step.waits.generate == pytest.approx(22.5)
    assert step.waits.others == pytest.approx(2.5)


def test_the_parts_add_up_to_the_rollout() -> None:
    episodes = [[PlayedTurn(3.0 + n % 5, 1.0 + n % 2, 2.0 + n % 3)] * (1 + n % 4) for n in range(40)]
    step = play(episodes, gpus=3, cores=4, is_shared=True)
    assert sum(step.waits.model_dump().values()) == pytest.approx(step.rollout_s)
    work_s = sum(turn.evaluation_s for episode in episodes for turn in episode)
    assert step.gpu_share == pytest.approx(work_s / (3 * step.rollout_s))


def test_nothing_takes_no_time() -> None:
    assert play([[]]).rollout_s == 0.0
