"""A configuration of a run on many GPUs holds together, or says where it does not."""

from pathlib import Path

import pytest

from cuda_agent.errors import ConfigError
from cuda_agent.rl.scale import PRESETS, list_presets, load_scale

TWO_GPUS = (PRESETS / "two_gpus.toml").read_text()


def test_presets_are_the_three_runs() -> None:
    assert list_presets() == ("one_node", "paper", "two_gpus")


def test_paper_has_the_papers_numbers() -> None:
    config = load_scale("paper")
    ppo, episode = config.ppo, config.episode
    assert (ppo.batch, ppo.steps, ppo.actor_lr, ppo.critic_lr) == (1024, 150, 3e-6, 6e-6)
    assert (ppo.eps_lower, ppo.eps_higher, ppo.gamma, ppo.gae_lambda) == (0.2, 0.28, 1.0, 0.95)
    assert episode.prompt_tokens + episode.response_tokens == 131_072
    assert (episode.turns, config.machines.eval_gpus) == (150, 128)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("layers = 28", "layers = 0", "llm.layers: Input should be greater than 0"),
        ("layers = 28", "layers = 28\ndepth = 3", "llm.depth: Extra inputs are not permitted"),
        (
            "tensor_parallel = 1",
            "tensor_parallel = 2",
            "layout.tensor_parallel does not divide the 1 training",
        ),
        ("response_tokens = 8192", "response_tokens = 8193", "an episode of 16385 tokens does not fit 16384"),
        ("offload = true", 'precision = "auto"', "layout.precision must say which"),
        ("[llm]", "[llm", "no TOML"),
    ],
)
def test_what_does_not_hold_together_is_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(TWO_GPUS.replace(old, new))
    with pytest.raises(ConfigError, match=message):
        load_scale(str(path))


def test_batch_must_divide_over_the_groups(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text((PRESETS / "one_node.toml").read_text().replace("batch = 128", "batch = 127"))
    with pytest.raises(ConfigError, match=r"ppo.batch 127 is no multiple of 2, the groups that train"):
        load_scale(str(path))


def test_sequences_are_shared_only_when_packed(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    one_node = (PRESETS / "one_node.toml").read_text()
    path.write_text(one_node.replace("offload = true", "offload = true\npacked = false"))
    with pytest.raises(ConfigError, match=r"layout.sequence_parallel above 1 needs layout.packed = true"):
        load_scale(str(path))


def test_absent_file_names_the_presets() -> None:
    with pytest.raises(ConfigError, match=r"no_such: No such file .* one of one_node, paper, two_gpus"):
        load_scale("no_such")
