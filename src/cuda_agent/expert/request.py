"""Find the task in the first message of an episode."""

import re

from cuda_agent.config import Record
from cuda_agent.judge.policy import Precision
from cuda_agent.llm.chat import Message, Role

HEADING = re.compile(r"^## model\.py\s*$", re.MULTILINE)
IN_PLACE = re.compile(r"In place:.*`kernels/")
ONCE = re.compile(r"Answer once")
FENCE = re.compile(r"^(`{3,})python\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)


class Request(Record):
    """What is asked for."""

    source: str
    """The reference program."""
    is_brief: bool = False
    """Whether the headers are in place and few words are wanted: the prompt says so."""
    is_single: bool = False
    """Whether one reply with all files is wanted, and no more."""
    precision: Precision = Precision.HIGHEST
    """What float32 products may do inside."""


def find_precision(system: str) -> Precision:
    """What float32 products may do inside, by the rule that the prompt gives."""
    told = (precision for precision in Precision if precision.rule and precision.rule in system)
    return next(told, Precision.HIGHEST)


def parse_request(messages: tuple[Message, ...]) -> Request | None:
    """The request, or None when no user message holds a reference under its heading."""
    for message in messages:
        heading = HEADING.search(message.content) if message.role is Role.USER else None
        block = FENCE.search(message.content, heading.end()) if heading else None
        if block is not None:
            system = "".join(each.content for each in messages if each.role is Role.SYSTEM)
            is_brief = IN_PLACE.search(system) is not None
            return Request(
                source=block[2],
                is_brief=is_brief,
                is_single=is_brief and ONCE.search(system) is not None,
                precision=find_precision(system),
            )
    return None
