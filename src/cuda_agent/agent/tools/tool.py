"""What every tool is, and what all tools share."""

from collections.abc import Mapping
from importlib import resources
from typing import Annotated, Protocol, TypeVar

from pydantic import AfterValidator, Field, JsonValue, ValidationError

from cuda_agent.config import Record
from cuda_agent.errors import UserError
from cuda_agent.llm.chat import ToolSchema

ArgumentsT = TypeVar("ArgumentsT", bound=Record)


ARGUMENT_CHARACTERS = 100_000
"""The longest text a program can be started with (the system's limit is 128 KiB)."""


def _refuse_null(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a null byte; remove it")
    return text


ArgumentText = Annotated[
    str, Field(min_length=1, max_length=ARGUMENT_CHARACTERS), AfterValidator(_refuse_null)
]
"""A text that can be handed to a program."""


class InvalidCallError(UserError):
    """A call that cannot be carried out as written; the message tells the model how to write it."""


class Tool(Protocol):
    """One kind of action."""

    @property
    def schema(self) -> ToolSchema:
        """The tool as a model sees it."""
        ...

    def run(self, arguments: Mapping[str, JsonValue]) -> str:
        """Carry out one call and tell what came of it; an action that fails is told too.

        Raises:
            InvalidCallError: the arguments do not fit the schema.
        """
        ...


def build_schema(name: str, arguments: type[Record]) -> ToolSchema:
    """A tool's schema: its text from `prompts/<name>.md`, its parameters from the arguments' record."""
    text = resources.files("cuda_agent.agent").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    parameters = arguments.model_json_schema()
    parameters.pop("title", None)
    parameters.pop("description", None)
    for field in parameters["properties"].values():
        field.pop("title", None)
    return ToolSchema(name=name, description=text.strip(), parameters=parameters)


def parse_arguments(kind: type[ArgumentsT], arguments: Mapping[str, JsonValue]) -> ArgumentsT:
    """The arguments as a record.

    Raises:
        InvalidCallError: they do not fit; says each argument's fault and which arguments there are.
    """
    try:
        return kind.model_validate(dict(arguments))
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc'])) or 'call'}: {fault['msg']}" for fault in error.errors()]
        required = [name for name, field in kind.model_fields.items() if field.is_required()]
        optional = [name for name in kind.model_fields if name not in required]
        known = ", ".join([*required, *(f"{name} (optional)" for name in optional)])
        raise InvalidCallError(f"{'; '.join(faults)}. The arguments are: {known}.") from error
