"""Find the task in the first message of an episode."""

import re

from cuda_agent.config import Record
from cuda_agent.llm.chat import Message, Role

HEADING = re.compile(r"^## model\.py\s*$", re.MULTILINE)
FENCE = re.compile(r"^(`{3,})python\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)


class Request(Record):
    """What is asked for."""

    source: str
    """The reference program."""


def parse_request(messages: tuple[Message, ...]) -> Request | None:
    """The request, or None when no user message holds a reference under its heading."""
    for message in messages:
        heading = HEADING.search(message.content) if message.role is Role.USER else None
        block = FENCE.search(message.content, heading.end()) if heading else None
        if block is not None:
            return Request(source=block[2])
    return None
