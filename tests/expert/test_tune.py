from cuda_agent.expert.choice import Choice
from cuda_agent.expert.tune import CPU_CHOICES, Outcome, build_variants, find_best, is_done
from cuda_agent.tasks.target import Target


def ok(speedup: float, reward: float = 3.0) -> Outcome:
    return Outcome(is_ok=True, over_eager=speedup * 2, over_compiled=speedup, reward=reward)


BAD = Outcome(is_ok=False, failure="build: compile_error: x")


def test_variants_that_read_the_same_are_tried_once() -> None:
    assert build_variants(Target.CPU, lambda choice: choice.describe()) == CPU_CHOICES
    by_store = build_variants(Target.CPU, lambda choice: str(choice.stream))
    assert by_store == (CPU_CHOICES[0], Choice(stream=False))


def test_the_score_is_the_harder_baseline() -> None:
    assert ok(1.2).score == 1.2
    assert Outcome(is_ok=True, over_eager=1.1, over_compiled=4.0).score == 1.1
    assert Outcome(is_ok=True, over_eager=1.1, over_compiled=None).score == 1.1
    assert BAD.score == 0


def test_noise_does_not_change_the_mind() -> None:
    assert find_best((ok(1.3), ok(1.32))) == 0
    assert find_best((ok(1.3), ok(1.4))) == 1
    assert find_best((BAD, ok(0.9))) == 1
    assert find_best((BAD, BAD)) is None


def test_tuning_ends() -> None:
    assert not is_done((), variants=3, tries=3)
    assert is_done((ok(1.1), ok(1.1)), variants=2, tries=9)
    assert is_done((BAD, BAD, BAD), variants=9, tries=3)


def test_tuning_goes_on_until_the_aim_is_reached_and_no_gain_is_in_sight() -> None:
    assert not is_done((ok(1.2),), variants=5, tries=5)
    assert is_done((ok(1.2), ok(1.1)), variants=5, tries=5)
    assert not is_done((ok(1.0, reward=2), ok(1.0, reward=2)), variants=5, tries=5)
    assert not is_done((BAD, ok(1.2)), variants=5, tries=5)


def test_a_great_lead_is_enough_at_once() -> None:
    assert is_done((ok(1.9),), variants=5, tries=5)
