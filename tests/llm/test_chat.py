"""What is spent adds up."""

from cuda_agent.llm.chat import Usage


def test_usages_are_added_field_by_field() -> None:
    spent = [Usage(prompt_tokens=1, completion_tokens=2, cost=0.5), Usage(prompt_tokens=10, cost=0.25)]
    assert sum(spent, Usage()) == Usage(prompt_tokens=11, completion_tokens=2, cost=0.75)
    assert sum([], Usage()) == Usage()
