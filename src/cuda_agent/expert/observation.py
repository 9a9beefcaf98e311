"""Read what `cuda-agent profile` printed."""

import re

from cuda_agent.expert.tune import Outcome

FAILURE = re.compile(r"^(rules|build|verify|profile): (?!ok\b)(.+)$", re.MULTILINE)
TIMES = r"^  {} [\d.,]+ ms, ([\d.,]+)x"
EAGER = re.compile(TIMES.format("eager"), re.MULTILINE)
COMPILED = re.compile(TIMES.format(r"torch\.compile"), re.MULTILINE)
REWARD = re.compile(r"^reward(?: if submitted)?: (-?[\d.]+)$", re.MULTILINE)


def read_number(match: re.Match[str]) -> float:
    """The number in a match's first group."""
    return float(match[1].replace(",", ""))


def parse_outcome(text: str) -> Outcome:
    """The outcome that an observation tells of; one that tells of none is a failure."""
    failure, eager = FAILURE.search(text), EAGER.search(text)
    if failure is not None:
        return Outcome(is_ok=False, failure=failure[0])
    if eager is None:
        last = text.strip().splitlines()[-1:] or ["no output"]
        return Outcome(is_ok=False, failure=last[0])
    compiled, reward = COMPILED.search(text), REWARD.search(text)
    return Outcome(
        is_ok=True,
        over_eager=read_number(eager),
        over_compiled=None if compiled is None else read_number(compiled),
        reward=1.0 if reward is None else read_number(reward),
    )
