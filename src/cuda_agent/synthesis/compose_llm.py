"""Tasks written by a language model, which is shown the operators that are to be in them.

What it writes is untrusted: here it is parsed, and what is left runs in the probe's sandbox alone.
"""

import ast
import functools
import random
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files

import jinja2

from cuda_agent.llm.chat import ChatModel, FinishReason, Message, Reply, Role
from cuda_agent.synthesis.candidate import Candidate
from cuda_agent.synthesis.compose import draw_kind
from cuda_agent.synthesis.fate import Fate, Filter
from cuda_agent.synthesis.filters import drop
from cuda_agent.synthesis.normal import parse_program
from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.recipe import Recipe

IMPORTS = ("torch", "transformers", "math", "typing", "functools", "collections")
"""What a program may import."""

_CALLS = ("__import__", "eval", "exec", "compile", "open", "input")
_BLOCK = re.compile(r"^```[^\n`]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_LONGEST = 20_000
"""Characters of a program: a task is a page."""


class LlmComposer:
    """Asks a chat model for one candidate after another."""

    def __init__(self, chat: ChatModel, operators: Sequence[Operator], *, recipe: Recipe) -> None:
        """Nothing is asked yet."""
        self._chat = chat
        self._operators = operators
        self._recipe = recipe

    def __call__(self, number: int) -> Fate:
        """Candidate `number`; dropped at once where the reply holds no one program.

        Its operators follow from the recipe's seed, but what a model writes need not be the same again.

        Raises:
            InfrastructureError: the model could not be reached.
            UserError: it refuses the request.
        """
        drawn = draw_operators(self._operators, self._recipe, number=number)
        prompt = Message(role=Role.USER, content=build_prompt(drawn, self._recipe))
        reply = self._chat.reply((prompt,), ())
        code = ""
        fault = find_reply_fault(reply)
        if not fault:
            (code,) = _list_blocks(reply)
            fault = find_program_fault(code)
        candidate = Candidate(
            number=number,
            seed=self._recipe.seed,
            ops=tuple(operator.name for operator in drawn),
            data_source=f"{drawn[0].package}#{len(drawn)}",
            # JSON has no half characters, and a program neither.
            code=code.encode(errors="replace").decode(),
            tags=tuple(sorted({tag for operator in drawn for tag in operator.tags})),
        )
        fate = Fate(candidate=candidate)
        return drop(fate, Filter.REPLY, reason=fault) if fault else fate


def draw_operators(operators: Sequence[Operator], recipe: Recipe, *, number: int) -> tuple[Operator, ...]:
    """The operators that candidate `number` of the recipe's seed is to have."""
    generator = random.Random(f"llm/{recipe.seed}/{number}")
    library, count = draw_kind(operators, recipe, generator=generator)
    pool = [operator for operator in operators if operator.package == library]
    return tuple(generator.sample(pool, min(count, len(pool))))


def build_prompt(operators: Sequence[Operator], recipe: Recipe) -> str:
    """What the model is asked."""
    values = recipe.model_dump(mode="json") | {"operators": operators, "imports": IMPORTS}
    return _load_template().render(values)


def find_reply_fault(reply: Reply) -> str:
    """Why a reply holds no one program; empty when it does."""
    if reply.finish_reason is FinishReason.LENGTH:
        return "the reply was cut off at its cap"
    blocks = _list_blocks(reply)
    if len(blocks) != 1:
        return "the reply holds no code block" if not blocks else "the reply holds several code blocks"
    return f"the program has more than {_LONGEST} characters" if len(blocks[0]) > _LONGEST else ""


def find_program_fault(code: str) -> str:
    """What a program reaches for that no task needs; empty when nothing, or when it does not parse."""
    try:
        tree = parse_program(code)
    except ValueError:
        return ""  # the next filter says why
    for module in _list_imports(tree):
        if module.partition(".")[0] not in IMPORTS:
            return f"the program imports {module}"
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return next((f"the program calls {name}" for name in _CALLS if name in names), "")


def _list_blocks(reply: Reply) -> list[str]:
    return _BLOCK.findall(reply.message.content.replace("\r\n", "\n"))


def _list_imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


@functools.cache
def _load_template() -> jinja2.Template:
    text = (files(__package__) / "prompts" / "compose.md.jinja").read_text(encoding="utf-8")
    # The text is for a model, not a browser: nothing to escape.
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(text)
