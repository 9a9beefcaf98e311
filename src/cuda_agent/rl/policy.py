"""The two networks: an actor that writes tokens, and a critic that says what a state is worth.

The actor is any causal language model of transformers', or a small Llama from nothing. The critic is a token
classifier with one label; its trunk begins as the actor's, and is its own. Both are plain folders of
transformers' on disk, the actor's with its tokenizer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from cuda_agent.errors import UserError
from cuda_agent.llm.local_config import Precision
from cuda_agent.rl.batch import Batch
from cuda_agent.rl.config import ScratchConfig
from cuda_agent.rl.losses import compute_entropy, compute_logprobs


@dataclass(frozen=True)
class Policy:
    """An actor, and what turns text into its tokens and back."""

    model: PreTrainedModel
    """A causal language model, in evaluation mode: dropout would make the policy that is trained another
    than the one that is sampled."""
    tokenizer: PreTrainedTokenizerFast | None = None
    """With a chat template; None where nothing is ever rendered."""

    def save(self, folder: Path) -> None:
        """Write weights, configuration and tokenizer."""
        save_network(self.model, folder)
        if self.tokenizer is not None:
            self.tokenizer.save_pretrained(folder)


@dataclass(frozen=True)
class TokenScores:
    """What the actor makes of a batch's tokens, all (B, T) and 0 for the first, which nothing predicts."""

    logprobs_BT: Tensor
    """Natural-log probability of each token given those before it; carries the gradient."""
    entropy_BT: Tensor
    """Entropy, in nats, of the distribution that it is drawn from; carries none."""


def load_policy(where: str, *, device: torch.device) -> Policy:
    """An actor from a folder or a hub id, in float32. No code of the checkpoint's is run.

    Raises:
        UserError: there is none, or it is unusable.
    """
    loader: Any = transformers.AutoModelForCausalLM
    model = _load_network(loader, where, device=device)
    return Policy(model, _load(transformers.AutoTokenizer, where))


def load_critic(where: str, *, device: torch.device) -> PreTrainedModel:
    """A critic from a folder, in float32.

    Raises:
        UserError: there is none, it is unusable, or it has another number of labels than one.
    """
    loader: Any = transformers.AutoModelForTokenClassification
    critic = _load_network(loader, where, device=device)
    if critic.config.num_labels != 1:
        raise UserError(f"{where} has {critic.config.num_labels} labels, and a critic has one: give another")
    return critic


def build_actor(
    config: ScratchConfig, vocabulary: int, *, seed: int, end_id: int | None = None
) -> PreTrainedModel:
    """A Llama with random weights that follow from `seed`; embeddings are shared with the head."""
    llama: Any = transformers.LlamaForCausalLM
    with _seeded(seed):
        model: PreTrainedModel = llama(
            transformers.LlamaConfig(
                vocab_size=vocabulary,
                hidden_size=config.hidden,
                intermediate_size=config.intermediate,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                num_key_value_heads=config.heads,
                max_position_embeddings=config.window_tokens,
                tie_word_embeddings=True,
                bos_token_id=None,
                eos_token_id=end_id,
                pad_token_id=end_id,
            )
        )
    model.train(False)
    return model


def build_critic(actor: PreTrainedModel, *, seed: int) -> PreTrainedModel:
    """A critic with a copy of the actor's trunk and a new head, whose weights follow from `seed`.

    Raises:
        UserError: transformers has no token classifier for this architecture.
    """
    config = type(actor.config).from_dict({**actor.config.to_dict(), "classifier_dropout": 0.0})
    config.num_labels = 1
    classifier: Any = transformers.AutoModelForTokenClassification
    try:
        with _seeded(seed):
            critic: PreTrainedModel = classifier.from_config(config)
    except ValueError as error:
        raise UserError(
            f"{config.model_type} has no token classifier in transformers, so it can have no critic; "
            "train a model of another architecture, such as llama or qwen2"
        ) from error
    critic.base_model.load_state_dict(actor.base_model.state_dict())
    critic.to(actor.device).train(False)  # type: ignore[arg-type]
    return critic


def score_tokens(
    actor: PreTrainedModel, batch: Batch, *, precision: Precision = Precision.FLOAT32
) -> TokenScores:
    """Log-probability and entropy of every token, in one pass."""
    with _compute_in(precision, batch.ids_BT.device):
        logits_BTK = actor(input_ids=batch.ids_BT, attention_mask=_build_mask(batch), use_cache=False).logits
    with torch.no_grad():
        entropy_BT = compute_entropy(logits_BTK)
    return TokenScores(compute_logprobs(logits_BTK, batch.ids_BT), entropy_BT)


def compute_values(
    critic: PreTrainedModel, batch: Batch, *, precision: Precision = Precision.FLOAT32
) -> Tensor:
    """V(s_t), (B, T): at t the value of the state before token t; 0 for the first token.

    The network reads token t - 1 last when it speaks of that state, so its outputs move by one.
    """
    with _compute_in(precision, batch.ids_BT.device):
        outputs_BT1 = critic(
            input_ids=batch.ids_BT, attention_mask=_build_mask(batch), use_cache=False
        ).logits
    return nn.functional.pad(outputs_BT1[:, :-1, 0].float(), (1, 0))


def save_network(model: PreTrainedModel, folder: Path) -> None:
    """Write a network's weights and configuration, as a plain folder of transformers'."""
    talk: Any = transformers.utils.logging
    talk.disable_progress_bar()  # it would break ours
    model.save_pretrained(folder)


def choose_device(named: str) -> torch.device:
    """The device that a configuration names; `auto` is a GPU where there is one.

    Raises:
        UserError: there is no such device.
    """
    if named == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(named)
    except RuntimeError as error:
        raise UserError(f"{named!r} is no device; give cpu, cuda, cuda:1 or auto") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UserError(f"{named}: torch finds no GPU here; give --device cpu")
    return device


def _build_mask(batch: Batch) -> Tensor:
    """What is read, (B, T), int64; a trajectory without tokens reads one of padding, as softmax needs one."""
    mask_BT = batch.is_token_BT.long()
    mask_BT[:, 0] = 1
    return mask_BT


def _load_network(loader: Any, where: str, *, device: torch.device) -> PreTrainedModel:  # noqa: ANN401 - likewise
    network: PreTrainedModel = _load(loader, where, dtype="float32").to(device).eval()
    for weight in network.parameters():
        # A file's weights lie at any address, and what is computed from them rounds by where they lie.
        weight.data = weight.data.clone()
    return network


def _load(loader: Any, where: str, **options: str) -> Any:  # noqa: ANN401 - one of transformers' classes
    try:
        return loader.from_pretrained(where, **options)
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        what = "a folder" if Path(where).exists() else "neither a folder nor a model that the hub gives"
        first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise UserError(f"{where} cannot be loaded ({what}): {first}") from error


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """New weights follow from `seed`, and the process's own random numbers go on as if nothing had been."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _compute_in(precision: Precision, device: torch.device) -> torch.autocast:
    """Matrix products in `precision`; weights stay what they are."""
    kind = torch.float16 if precision is Precision.FLOAT16 else torch.bfloat16
    is_mixed = precision in (Precision.BFLOAT16, Precision.FLOAT16)
    return torch.autocast(device.type, dtype=kind, enabled=is_mixed)
