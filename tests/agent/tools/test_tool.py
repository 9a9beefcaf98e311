"""What all tools share."""

import pytest

from cuda_agent.agent.tools.bash import BashArguments
from cuda_agent.agent.tools.edit import EditArguments
from cuda_agent.agent.tools.search import SearchArguments
from cuda_agent.agent.tools.tool import InvalidCallError, build_schema, parse_arguments
from cuda_agent.config import Record


@pytest.mark.parametrize(
    ("name", "kind", "required"),
    [
        ("bash", BashArguments, []),
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
    assert schema.parameters.get("required", []) == required
    for field in schema.parameters["properties"].values():
        assert "title" not in field
        assert field["description"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"timeout_s": []},
            "timeout_s: Input should be a valid number. The arguments are: command (opt",
        ),
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
