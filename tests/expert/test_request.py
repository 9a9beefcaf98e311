import pytest

from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.prompt import PromptForm, build_prompt
from cuda_agent.expert.request import parse_request
from cuda_agent.judge.policy import Precision
from cuda_agent.llm.chat import Message, Role
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

PAGE = (
    "Make it faster.\n\nTarget: cpu\n\n## model.py\n\n{fence}python\nx = '''\n```\n'''\n{fence}\nGood luck."
)


def test_the_reference_is_found_under_its_heading() -> None:
    messages = (
        Message(role=Role.SYSTEM, content="## model.py\n```python\nwrong\n```"),
        Message(role=Role.USER, content=PAGE.format(fence="````")),
    )
    request = parse_request(messages)
    assert request is not None
    assert request.source == "x = '''\n```\n'''\n"


def test_no_reference_is_none() -> None:
    assert parse_request((Message(role=Role.USER, content="hello"),)) is None
    assert parse_request((Message(role=Role.USER, content="```python\nx\n```"),)) is None


@pytest.mark.parametrize("form", list(PromptForm))
@pytest.mark.parametrize("precision", list(Precision))
def test_the_precision_is_read_from_what_an_episode_begins_with(
    form: PromptForm, precision: Precision
) -> None:
    task = Task(name="t", source="x = 1\n")
    for target in Target:
        messages = build_prompt(task, target=target, limits=EpisodeLimits(), form=form, precision=precision)
        request = parse_request(messages)
        assert request is not None
        assert (request.precision, request.source) == (precision, "x = 1\n")
