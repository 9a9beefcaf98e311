"""The plane's dots are the measured submissions."""

from cuda_agent.environment.reward import MARGIN
from cuda_agent.report.material import Material
from cuda_agent.report.reward_page import build_reward_page, iterate_evaluations


def test_dots_are_the_right_and_timed_ones(recorded: Material) -> None:
    page = build_reward_page(recorded)
    passed = [each for _, each in iterate_evaluations(recorded) if each.failed_stage is None]
    assert len(page.data["dots"]) == len(passed) > 40
    assert {dot["reward"] for dot in page.data["dots"]} == {2.0, 3.0}
    assert page.data["margin"] == MARGIN


def test_a_dot_inside_by_its_median_alone_earns_less(recorded: Material) -> None:
    edge = 1 / (1 - MARGIN)
    dots = build_reward_page(recorded).data["dots"]
    near = [dot for dot in dots if dot["low_compiled"] <= edge < dot["over_compiled"]]
    assert near
    assert {dot["reward"] for dot in near} == {2.0}


def test_nothing_measured() -> None:
    page = build_reward_page(Material())
    assert page.data["dots"] == []
    assert page.missing
