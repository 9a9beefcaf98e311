from cuda_agent.expert.request import parse_request
from cuda_agent.llm.chat import Message, Role

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
