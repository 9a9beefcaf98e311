"""What all tools share."""

import pytest

from cuda_agent.agent.tools.bash import BashArguments
from cuda_agent.agent.tools.edit import EditArguments
from cuda_agent.agent.tools.search import SearchArguments
from cuda_agent.agent.tools.tool import InvalidCallError, build_schema, parse_arguments, truncate_middle
from cuda_agent.config import Record


@pytest.mark.parametrize(
    ("name", "kind", "required"),
    [
        ("bash", BashArguments, ["command"]),
        ("edit", EditArguments, ["command", "path"]),
        ("search", SearchArguments, ["pattern"]),
    ],
)
def test_a_schema_says_what_every_argument_means(name: str, kind: type[Record], required: list[str]) -> None:
    schema = build_schema(name, kind)
    assert schema.name == name
    assert len(schema.description) > 40
    assert schema.parameters["type"] == "object"
    assert schema.parameters["additionalProperties"] is False
    assert schema.parameters["required"] == required
    for field in schema.parameters["properties"].values():
        assert "title" not in field
        assert field["description"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "command: Field required. The arguments are: command, timeout_s (optional)."),
        ({"command": ""}, "command: String should have at least 1 character"),
        ({"command": 3}, "command: Input should be a valid string"),
        ({"command": "a\0b"}, "command: Value error, holds a null byte; remove it"),
        ({"command": "x" * 100_001}, "command: String should have at most 100000 characters"),
        ({"command": "ls", "timeout_s": 0}, "timeout_s: Input should be greater than 0"),
        ({"command": "ls", "cwd": "/"}, "cwd: Extra inputs are not permitted"),
    ],
)
def test_arguments_that_do_not_fit_are_explained(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidCallError) as raised:
        parse_arguments(BashArguments, arguments)  # type: ignore[arg-type]
    assert words in str(raised.value)


def test_a_long_text_keeps_head_and_tail_and_says_what_was_cut() -> None:
    assert truncate_middle("x" * 100, 100) == "x" * 100
    assert (
        truncate_middle("a" * 60 + "b" * 60, 100) == "a" * 50 + "\n[... 20 characters cut ...]\n" + "b" * 50
    )
