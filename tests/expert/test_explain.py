from collections.abc import Mapping

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.explain import count, explain_plan
from tests.expert.built import Planned


def test_a_plan_is_explained_pass_by_pass(planned: Mapping[str, Planned]) -> None:
    lines = explain_plan(planned["softmax"].plan, Choice()).splitlines()
    assert lines[0] == "kernel0: 5 rows of 37 columns, 7 operations fused"
    assert lines[1] == "  pass 1: reduces (amax) over the columns"
    assert "computes exp, reduces (sum) over the columns, keeps 1 value a column" in lines[2]
    assert lines[3] == "  pass 3: stores out0"
    assert lines[-1] == "Choices: keep dear, streaming stores, unroll 4"


def test_totals_and_row_results_are_named(planned: Mapping[str, Planned]) -> None:
    assert "adds to the total (sum)" in explain_plan(planned["focal"].plan, Choice())
    assert "stores a value a row" in explain_plan(planned["log_softmax"].plan, Choice())


def test_numbers_agree_with_their_nouns() -> None:
    assert (count(1, "row"), count(2, "row")) == ("1 row", "2 rows")
