"""A run stops when it has collapsed, with the reason, and not before."""

import math

import pytest

from cuda_agent.rl.collapse import find_collapse
from cuda_agent.rl.config import CollapseConfig

CONFIG = CollapseConfig(window=2)
HEALTHY = {
    "critic/rewards/mean": 1.0,
    "actor/entropy": 0.1,
    "actor/ratio_max": 2.0,
    "critic/vf_explained_var": 0.3,
    "actor/grad_norm": 1.0,
}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"critic/rewards/mean": -0.1}, "the mean reward fell from 1.000 to -0.100"),
        ({"actor/entropy": 1e-4}, "the entropy is 0.0001 nats"),
        ({"actor/entropy": 0.4}, "the entropy rose from 0.1 to 0.4"),
        ({"actor/ratio_max": 1e6}, "2 updates in a row had a ratio of 1e"),
        ({"critic/vf_explained_var": -11.0}, "the critic's explained variance is -11"),
    ],
)
def test_each_sign_stops_with_its_reason(changes: dict[str, float], reason: str) -> None:
    healthy, sick = [HEALTHY] * 4, HEALTHY | changes
    assert find_collapse(healthy, CONFIG) == ""
    assert find_collapse([*healthy, sick, sick], CONFIG).startswith(reason)


def test_one_bad_ratio_is_no_collapse() -> None:
    assert find_collapse([*[HEALTHY] * 4, HEALTHY | {"actor/ratio_max": 1e6}], CONFIG) == ""


def test_what_was_never_good_has_not_collapsed() -> None:
    assert find_collapse([HEALTHY | {"critic/rewards/mean": -1.0}] * 9, CONFIG) == ""


def test_a_young_run_is_left_alone_unless_it_is_broken() -> None:
    young = [HEALTHY, HEALTHY | {"critic/rewards/mean": -9.0}]
    assert find_collapse(young, CONFIG) == ""
    broken = HEALTHY | {"actor/grad_norm": math.inf}
    assert find_collapse([broken], CONFIG) == "actor/grad_norm is inf: a loss or a weight is not finite"


def test_a_figure_that_is_unknown_is_beyond_no_limit() -> None:
    assert find_collapse([HEALTHY | {"critic/vf_explained_var": math.nan}] * 6, CONFIG) == ""
    assert find_collapse([], CONFIG) == ""
