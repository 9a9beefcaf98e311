"""A checkpoint in this process: the only file that knows the `transformers` package."""

import hashlib
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers

from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.llm.batcher import Batcher
from cuda_agent.llm.chat import FinishReason, Message, Reply, ToolSchema, Usage
from cuda_agent.llm.chat_template import ChatTemplate
from cuda_agent.llm.endpoint import Sampling, ToolCallForm
from cuda_agent.llm.local_config import LocalConfig
from cuda_agent.llm.sampler import TokenSampler

GGUF = ".gguf"


@dataclass(frozen=True)
class Checkpoint:
    """A loaded language model."""

    model: Any
    """The network, on its device."""
    tokenizer: Any
    """Between text and tokens."""
    end_ids: tuple[int, ...]
    """Tokens that end a turn."""
    window_tokens: int
    """How many tokens a conversation and its reply may have."""


@dataclass(frozen=True)
class Asked:
    """One reply to sample."""

    prompt_ids: tuple[int, ...]
    """What is read."""
    most_tokens: int
    """The cap of the reply."""
    seed: int
    """Of its random numbers."""


@dataclass(frozen=True)
class Sampled:
    """One reply, sampled."""

    ids: tuple[int, ...]
    """Its tokens, the end of the turn too."""
    logprobs: tuple[float, ...]
    """Natural-log probability of each, as it was drawn."""


class LocalChat:
    """Answers from a checkpoint; conversations that wait at once are continued together.

    Sampled at temperature 1 unless told otherwise, and with nothing from the checkpoint's own generation
    settings but its end tokens, so that the log-probabilities are the model's.
    """

    def __init__(
        self, name: str, checkpoint: Checkpoint, *, sampling: Sampling, batch_size: int, wants_native: bool
    ) -> None:
        """`wants_native` tool calls are used where the checkpoint's chat template has them.

        Raises:
            UserError: the checkpoint has no chat template, or none that works.
        """
        self.name = name
        """How run folders and tables name this policy."""
        self._checkpoint = checkpoint
        self._sampling = sampling
        self.template = ChatTemplate(
            checkpoint.tokenizer, end_ids=checkpoint.end_ids, wants_native=wants_native
        )
        """Between its messages and its tokens."""
        self._batcher: Batcher[Asked, Sampled] = Batcher(self._sample, limit=batch_size)
        self._times_asked: Counter[bytes] = Counter()

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """The checkpoint's answer, with the tokens read and sampled.

        Raises:
            UserError: the conversation does not fit the model's window, or its template refuses it.
            InfrastructureError: the device has no memory left.
        """
        prompt_ids = self.template.encode(messages, tools)
        most_tokens = min(self._sampling.max_tokens, self._checkpoint.window_tokens - len(prompt_ids))
        if most_tokens < 1:
            raise UserError(
                f"{self.name} holds {self._checkpoint.window_tokens} tokens, and the conversation has "
                f"{len(prompt_ids)}: give a smaller --limits.total-tokens"
            )
        sampled = self._batcher.ask(Asked(prompt_ids, most_tokens, self._choose_seed(prompt_ids)))
        is_ended = sampled.ids[-1] in self._checkpoint.end_ids
        return Reply(
            message=self.template.parse(sampled.ids, tools, context=messages, context_ids=prompt_ids),
            finish_reason=FinishReason.STOP if is_ended else FinishReason.LENGTH,
            usage=Usage(prompt_tokens=len(prompt_ids), completion_tokens=len(sampled.ids)),
            prompt_ids=prompt_ids,
            completion_ids=sampled.ids,
            completion_logprobs=sampled.logprobs,
        )

    def _choose_seed(self, prompt_ids: tuple[int, ...]) -> int:
        """Random, or with a seed given: by the prompt, and by how often it was asked before.

        So a task's episodes differ from each other, whatever the order in which their threads come.
        """
        if self._sampling.seed is None:
            return secrets.randbits(63)
        digest = hashlib.sha256(f"{self._sampling.seed} {prompt_ids}".encode()).digest()
        self._times_asked[digest] += 1
        drawn = hashlib.sha256(digest + str(self._times_asked[digest]).encode()).digest()
        return int.from_bytes(drawn[:7])

    def _sample(self, batch: Sequence[Asked]) -> list[Sampled]:
        """One reply for each, in one loop that ends with the longest."""
        model, ends = self._checkpoint.model, self._checkpoint.end_ids
        width = max(len(asked.prompt_ids) for asked in batch)
        rows = [[ends[0]] * (width - len(asked.prompt_ids)) + [*asked.prompt_ids] for asked in batch]
        read = [[0] * (width - len(asked.prompt_ids)) + [1] * len(asked.prompt_ids) for asked in batch]
        sampler = TokenSampler(
            [asked.seed for asked in batch],
            temperature=1.0 if self._sampling.temperature is None else self._sampling.temperature,
            top_p=1.0 if self._sampling.top_p is None else self._sampling.top_p,
            device=model.device,
        )
        try:
            with torch.inference_mode():
                tokens = model.generate(
                    input_ids=torch.tensor(rows, device=model.device),
                    attention_mask=torch.tensor(read, device=model.device),
                    logits_processor=[sampler],
                    max_new_tokens=max(asked.most_tokens for asked in batch),
                )
        except torch.OutOfMemoryError as error:
            raise InfrastructureError(
                f"{self.name}: {len(batch)} conversations of up to {width} tokens do not fit into the "
                "device's memory: give a smaller --local.batch-size or --limits.total-tokens"
            ) from error
        sampled = zip(batch, tokens[:, width:].tolist(), sampler.logprobs, strict=True)
        return [_cut(ids[: asked.most_tokens], logprobs, ends=ends) for asked, ids, logprobs in sampled]


def _cut(ids: list[int], logprobs: list[float], *, ends: tuple[int, ...]) -> Sampled:
    """What was sampled up to the end of the turn; a row of a batch goes on until all have ended."""
    length = next((place + 1 for place, token in enumerate(ids) if token in ends), len(ids))
    return Sampled(tuple(ids[:length]), tuple(logprobs[:length]))


def load_local_chat(where: str, config: LocalConfig, *, sampling: Sampling, form: ToolCallForm) -> LocalChat:
    """The policy that a checkpoint is, see `load_checkpoint`.

    Raises:
        UserError: the checkpoint is missing, unusable, or cannot chat.
    """
    return LocalChat(
        f"local:{where}",
        load_checkpoint(where, config),
        sampling=sampling,
        batch_size=config.batch_size,
        wants_native=form is ToolCallForm.NATIVE,
    )


def load_checkpoint(where: str, config: LocalConfig) -> Checkpoint:
    """A checkpoint from a folder, a hub id, or a .gguf file in either. No code of the checkpoint's is run.

    Raises:
        UserError: there is none, it is unusable, or it does not fit the device; says which.
    """
    place, options = where, {}
    if where.endswith(GGUF):
        place, _, options["gguf_file"] = where.rpartition("/")
        place = place or "."
    try:
        device = _choose_device(config.device)
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
        loader: Any = transformers.AutoModelForCausalLM
        model = loader.from_pretrained(place, dtype=config.dtype.value, **options).to(device).eval()
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        what = "a folder" if Path(place).exists() else "neither a folder nor a model that the hub gives"
        raise UserError(f"{where} cannot be loaded ({what}): {_shorten(error)}") from error
    if not getattr(tokenizer, "chat_template", None):
        raise UserError(
            f"{where} has no chat template, so it cannot follow a conversation: give a chat model"
        )
    end_ids = _find_end_ids(model.generation_config, tokenizer)
    # Whatever else it wishes for would change the probabilities that tokens are drawn with.
    bare: Any = transformers.GenerationConfig
    model.generation_config = bare(do_sample=False, eos_token_id=list(end_ids), pad_token_id=end_ids[0])
    window_tokens = getattr(model.config.get_text_config(), "max_position_embeddings", None) or 1 << 20
    return Checkpoint(model, tokenizer, end_ids, window_tokens)


def _find_end_ids(config: Any, tokenizer: Any) -> tuple[int, ...]:  # noqa: ANN401
    """The end tokens of both, those of the generation settings first."""
    named = config.eos_token_id
    found = [*(named if isinstance(named, list) else [named]), tokenizer.eos_token_id]
    ends = tuple(dict.fromkeys(token for token in found if token is not None))
    if not ends:
        raise UserError("the checkpoint names no token that ends a turn")
    return ends


def _choose_device(named: str) -> torch.device:
    if named == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(named)


def _shorten(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
