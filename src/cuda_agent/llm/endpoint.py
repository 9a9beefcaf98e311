"""How an OpenAI-compatible endpoint is asked."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from cuda_agent.config import Config


class ToolCallForm(StrEnum):
    """How a model calls tools."""

    NATIVE = "native"
    """Through the protocol's own tool calls."""
    TEXT = "text"
    """Written into the reply, in a form that the prompt explains: for models without tool calls."""


class CapField(StrEnum):
    """What an endpoint calls the cap of one reply."""

    MAX_TOKENS = "max_tokens"
    """The name that every server knows."""
    MAX_COMPLETION_TOKENS = "max_completion_tokens"
    """The name that OpenAI's reasoning models insist on."""


class Sampling(Config):
    """How a model samples; what is left out is the server's choice."""

    temperature: NonNegativeFloat | None = None
    """0 takes the likeliest token, 1 samples as the model was trained."""
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    """Only the likeliest tokens that make up this probability are sampled."""
    seed: int | None = None
    """Makes sampling repeatable, as far as the server keeps it."""
    max_tokens: PositiveInt = 16_384
    """The most tokens of one reply, thinking included; it must leave room in the model's window."""
    cap_field: CapField | None = None
    """Its name in a request; without it max_completion_tokens at OpenAI's own address, else max_tokens."""


class Prices(Config):
    """What tokens cost, in any one currency."""

    prompt: NonNegativeFloat = 0.0
    """Price of a million tokens read (those that a server has in its cache are counted in full)."""
    completion: NonNegativeFloat = 0.0
    """Price of a million tokens written."""


class EndpointConfig(Config):
    """Where a model is and how it is asked; for `--policy openai:MODEL`."""

    base_url: str | None = None
    """The endpoint's address, such as http://127.0.0.1:8000/v1; without it OpenAI's own."""
    api_key_env: str | None = None
    """Name of the variable that holds the key; without it OPENAI_API_KEY, or with --base-url no key."""
    tool_calls: ToolCallForm = ToolCallForm.NATIVE
    """How the model calls tools."""
    request_s: PositiveFloat = 600.0
    """Seconds that the endpoint may be silent before a request counts as failed and is tried again."""
    sampling: Sampling = Sampling()
    """How the model samples."""
    prices: Prices = Prices()
    """What its tokens cost."""
