"""Any endpoint that speaks OpenAI's chat completions protocol."""

import datetime
import email.utils
import importlib
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from cuda_agent.errors import ConfigError, InfrastructureError, UserError
from cuda_agent.llm.chat import Message, Reply, ToolSchema
from cuda_agent.llm.endpoint import CapField, EndpointConfig
from cuda_agent.llm.key import hide_key, read_key
from cuda_agent.llm.patient import BusyError
from cuda_agent.llm.wire import build_messages, build_tools, parse_completion, show

if TYPE_CHECKING:
    import openai

OPENAI_ADDRESS = "https://api.openai.com/v1"
"""Where a model is looked for when no other address is given."""

OPENAI_KEY_ENV = "OPENAI_API_KEY"
"""Where its key is looked for when no other variable is named. Other addresses are never sent it unasked."""

PASSING_STATUSES = (408, 409, 425, 429)
"""What passes when one waits; so does everything from 500 on."""

MOST_BYTES = 32 << 20
"""A longer answer is no reply of a model: what is asked for has at most some hundred thousand tokens."""

_SPENT = "insufficient_quota"


class EndpointError(UserError):
    """An endpoint refuses a request, and would refuse it again."""


class HttpChat:
    """Asks an endpoint, once a reply and without streaming. Asking again is `PatientChat`'s.

    The key is read from its environment variable for each request. It is not in this object, and
    whatever the endpoint says has it hidden.
    """

    def __init__(self, model: str, config: EndpointConfig) -> None:
        """`model` as the endpoint calls it.

        Raises:
            ConfigError: the address is unusable, or there is no key where one is needed.
        """
        self.name = f"openai:{model}"
        """How run folders and tables name this policy."""
        self._model = model
        self._config = config
        self._address = check_address(config.base_url or OPENAI_ADDRESS)
        self._key_env = config.api_key_env or (OPENAI_KEY_ENV if config.base_url is None else None)
        read_key(self._key_env)
        self._client = _build_client(self._address, timeout_s=config.request_s)

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """The model's answer, with its tokens and their price.

        Raises:
            BusyError: it has too much to do, or is not well; says when to ask again if the endpoint does.
            InfrastructureError: it cannot be reached, did not answer in time, or not in the protocol.
            EndpointError: it refuses the request.
            ConfigError: the key is no longer there.
        """
        request = {"model": self._model, "messages": build_messages(messages), **self._build_options()}
        if tools:
            request["tools"] = build_tools(tools)
        taken_ids = {call.id for message in messages for call in message.tool_calls}
        text = self._post(request, read_key(self._key_env))
        return parse_completion(text, taken_ids=taken_ids, prices=self._config.prices)

    def _build_options(self) -> dict[str, Any]:
        sampling = self._config.sampling
        is_openai = self._config.base_url is None
        cap_field = sampling.cap_field or (
            CapField.MAX_COMPLETION_TOKENS if is_openai else CapField.MAX_TOKENS
        )
        chosen = sampling.model_dump(include={"temperature", "top_p", "seed"}, exclude_none=True)
        return {**chosen, cap_field.value: sampling.max_tokens}

    def _post(self, request: dict[str, Any], key: str) -> str:
        """The text that comes back. Errors are raised anew: the package's own may hold the key."""
        import openai

        transport = _find_transport(openai.DefaultHttpxClient)
        ask = self._client.chat.completions.with_streaming_response.create
        try:
            with ask(**request, stream=False, extra_headers={"Authorization": f"Bearer {key}"}) as answer:
                return hide_key(self._read(answer.iter_bytes()), key)
        except openai.APIStatusError as error:
            text = hide_key(error.response.text, key)
            raise _explain(error, text, address=self._address) from None
        except (openai.APITimeoutError, transport.TimeoutException):
            raise InfrastructureError(
                f"{self._address} was silent for {self._config.request_s:g} s; is it up, and large enough?"
            ) from None
        except (openai.APIConnectionError, transport.HTTPError) as error:
            cause = hide_key(show(str(error.__cause__ or error)), key)
            raise InfrastructureError(
                f"no connection with {self._address} ({cause}); is it up, and the address right?"
            ) from None
        except openai.OpenAIError as error:
            cause = hide_key(show(str(error)), key)
            raise InfrastructureError(f"{self._address} could not be asked: {cause}") from None

    def _read(self, parts: Iterator[bytes]) -> str:
        """A body that comes to its end."""
        end_s = time.monotonic() + self._config.request_s
        body = bytearray()
        for part in parts:
            body += part
            if len(body) > MOST_BYTES:
                raise EndpointError(
                    f"{self._address} answered with more than {MOST_BYTES:,} bytes; is it a chat endpoint?"
                )
            if time.monotonic() > end_s:
                raise InfrastructureError(
                    f"{self._address} was still answering after {self._config.request_s:g} s"
                )
        return body.decode("utf-8", "replace")


def check_address(address: str) -> str:
    """The address, if a request can be sent there and it holds no secret.

    Raises:
        ConfigError: it is not http, or it carries a password or a query.
    """
    parts = urlsplit(address)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            "--base-url must be the bare address: a password or query would stand in the run's folder; "
            "give the key through --api-key-env"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"--base-url {address!r} is no address; give one such as http://127.0.0.1:8000/v1")
    return address


def parse_retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that an endpoint wants to be left alone, given as a number or a date; None when not said."""
    told = headers.get("retry-after", "")
    try:
        return max(0.0, float(told))
    except ValueError:
        pass
    try:
        until = email.utils.parsedate_to_datetime(told)
    except ValueError:
        return None
    now = datetime.datetime.now(until.tzinfo)
    return max(0.0, (until - now).total_seconds())


def _build_client(address: str, *, timeout_s: float) -> "openai.OpenAI":
    import openai  # takes a second, which no other policy should pay

    # Every request brings its own key; without a key here the package would look for one itself.
    return openai.OpenAI(base_url=address, api_key="unused", timeout=timeout_s, max_retries=0)


def _find_transport(client: type) -> Any:  # noqa: ANN401
    """The HTTP package that the openai package stands on, httpx or a later one.

    Its errors are wrapped by the openai package until the headers came; what breaks later is raised as it is.
    """
    return importlib.import_module(client.__mro__[1].__module__.partition(".")[0])


def _explain(error: "openai.APIStatusError", text: str, *, address: str) -> Exception:
    """What an HTTP status means for us."""
    status = error.status_code
    said = f"{address} answered with status {status}: {show(text) or 'nothing'}"
    is_passing = status in PASSING_STATUSES or status >= 500
    if is_passing and error.code != _SPENT:
        return BusyError(said, retry_after_s=parse_retry_after_s(error.response.headers))
    return EndpointError(f"{said}; check the key, the model's name and the options")
