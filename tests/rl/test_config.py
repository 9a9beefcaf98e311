"""The paper's numbers, and those for two cores."""

from cuda_agent.rl.config import MICRO, ImitateConfig, PpoConfig, build_micro


def test_the_papers_numbers() -> None:
    config = PpoConfig()
    assert (config.batch, config.steps) == (1024, 150)
    assert (config.actor.learning_rate, config.critic.learning_rate) == (3e-6, 6e-6)
    assert (config.eps_lower, config.eps_higher) == (0.2, 0.28)
    assert (config.gae.gamma, config.gae.gae_lambda) == (1.0, 0.95)


def test_micro_leaves_what_was_given() -> None:
    small = build_micro(PpoConfig(steps=7))
    assert small.steps == 7
    assert (small.batch, small.actor) == (MICRO["batch"], MICRO["actor"])
    assert small.eps_higher == 0.28
    assert build_micro(ImitateConfig()).actor == MICRO["actor"]
