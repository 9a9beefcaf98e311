"""An endpoint's key: read when it is used, kept nowhere, and hidden in whatever comes back."""

import json
import os
import re

from cuda_agent.errors import ConfigError

SECRET_CHARACTERS = 12
"""A shorter key is a dummy such as EMPTY, and hiding that would spoil the text."""

NO_KEY = "none"
"""What an endpoint that wants no key is sent."""

HIDDEN = "[key]"
"""What stands in a key's place."""


def read_key(variable: str | None) -> str:
    """The key in an environment variable; `NO_KEY` when there is no variable to look at.

    Raises:
        ConfigError: it is no variable's name, or the variable holds no key. The message shows neither:
            whoever gives the key itself for a name should not find it in a log.
    """
    if variable is None:
        return NO_KEY
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
        raise ConfigError(
            "--api-key-env is not the name of an environment variable; give a name such as "
            "OPENAI_API_KEY, never the key itself"
        )
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConfigError(
            "the environment variable for the endpoint's key (--api-key-env, else OPENAI_API_KEY) "
            "is not set; export it"
        )
    if not re.fullmatch(r"[!-~]+", key):
        raise ConfigError(
            "the key in the environment variable has characters that no header can carry; export it again"
        )
    return key


def hide_key(text: str, key: str) -> str:
    """The text without the key, as it is or as it stands in JSON: endpoints repeat what they were sent."""
    if len(key) < SECRET_CHARACTERS:
        return text
    return text.replace(key, HIDDEN).replace(json.dumps(key)[1:-1], HIDDEN)
