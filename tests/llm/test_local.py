"""A real checkpoint, made on the spot, answers with the tokens and log-probabilities that it had."""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from cuda_agent.errors import UserError  # noqa: E402
from cuda_agent.llm.batcher import Batcher  # noqa: E402
from cuda_agent.llm.chat import FinishReason, Message, Reply, Role  # noqa: E402
from cuda_agent.llm.endpoint import Sampling, ToolCallForm  # noqa: E402
from cuda_agent.llm.local import Asked, LocalChat, Sampled, load_local_chat  # noqa: E402
from cuda_agent.llm.local_config import LocalConfig, Precision  # noqa: E402
from tests.llm.test_chat_template import SYSTEM, TASK, TOOLS, answer  # noqa: E402
from tests.llm.tiny_llama import build_model, build_tokenizer, save, teach, write_call  # noqa: E402

MESSAGES = (SYSTEM, TASK)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("tiny"))


def load(
    folder: Path | str, *, form: ToolCallForm = ToolCallForm.NATIVE, batch_size: int = 16, **sampling: object
) -> LocalChat:
    options = Sampling.model_validate({"max_tokens": 12, **sampling})
    return load_local_chat(
        str(folder), LocalConfig(device="cpu", batch_size=batch_size), sampling=options, form=form
    )


def compute_logprobs(chat: LocalChat, reply: Reply) -> list[float]:
    """Of a reply's tokens, from one pass of the model over all of it."""
    assert reply.prompt_ids is not None
    assert reply.completion_ids is not None
    ids = torch.tensor([[*reply.prompt_ids, *reply.completion_ids]])
    with torch.inference_mode():
        scores = chat._checkpoint.model(ids).logits[0, len(reply.prompt_ids) - 1 : -1].log_softmax(-1)
    return [float(row[token]) for row, token in zip(scores, reply.completion_ids, strict=True)]


def test_a_reply_has_the_models_own_tokens_and_logprobs(folder: Path) -> None:
    chat = load(folder, seed=1)
    reply = chat.reply(MESSAGES, TOOLS)
    assert chat.template.is_native
    assert reply.prompt_ids == chat.template.encode(MESSAGES, TOOLS)
    assert reply.completion_ids is not None
    assert reply.finish_reason is FinishReason.LENGTH
    assert len(reply.completion_ids) == 12 == reply.usage.completion_tokens
    assert reply.usage.prompt_tokens == len(reply.prompt_ids)
    # Neither the temperature nor the repetition penalty that the checkpoint wishes for.
    assert reply.completion_logprobs == pytest.approx(compute_logprobs(chat, reply), abs=1e-4)


def test_a_conversation_grows_by_what_was_sampled(folder: Path) -> None:
    chat = load(folder, seed=2)
    messages: tuple[Message, ...] = MESSAGES
    before: tuple[int, ...] = ()
    for _ in range(3):
        reply = chat.reply(messages, TOOLS)
        assert reply.prompt_ids is not None
        assert reply.completion_ids is not None
        assert reply.prompt_ids[: len(before)] == before
        before = reply.prompt_ids + reply.completion_ids
        messages = (*messages, reply.message, Message(role=Role.USER, content="Go on."))


def test_a_batch_says_what_each_would_say_alone(folder: Path) -> None:
    tasks = [(SYSTEM, Message(role=Role.USER, content="row " * length)) for length in (1, 9, 30, 60)]
    alone = [load(folder, seed=3).reply(task, TOOLS) for task in tasks]
    chat = load(folder, seed=3)
    sizes: list[int] = []

    def sample(batch: Sequence[Asked]) -> list[Sampled]:
        sizes.append(len(batch))
        return chat._sample(batch)

    chat._batcher = Batcher(sample, limit=16)
    with ThreadPoolExecutor(len(tasks)) as pool, chat._batcher._at_work:
        asked = [pool.submit(chat.reply, task, TOOLS) for task in tasks]
        while len(chat._batcher._waiting) < len(tasks):
            torch.ones(1).add_(1)
    among = [each.result() for each in asked]
    assert sizes == [4]
    assert [each.completion_ids for each in among] == [each.completion_ids for each in alone]
    for each, other in zip(among, alone, strict=True):
        assert each.completion_logprobs == pytest.approx(other.completion_logprobs, abs=1e-4)


def test_a_seed_repeats_a_run_but_not_an_episode(folder: Path) -> None:
    def sample(seed: int | None) -> list[tuple[int, ...] | None]:
        chat = load(folder, seed=seed)
        return [chat.reply(MESSAGES, TOOLS).completion_ids for _ in range(2)]

    first, again, other = sample(4), sample(4), sample(5)
    assert first == again
    assert first[0] != first[1]
    assert first[0] != other[0]
    assert sample(None) != sample(None)


def test_temperature_zero_takes_the_likeliest(folder: Path) -> None:
    chat = load(folder, temperature=0)
    reply = chat.reply(MESSAGES, TOOLS)
    assert reply.completion_logprobs == (0.0,) * 12
    assert reply.completion_ids == chat.reply(MESSAGES, TOOLS).completion_ids


def test_what_it_was_taught_it_does(tmp_path: Path) -> None:
    tokenizer = build_tokenizer()
    model = build_model(tokenizer)
    save(tmp_path, model=model)
    template = load(tmp_path).template
    said = (*tokenizer.encode(write_call("bash", {"command": "ls"})), tokenizer.eos_token_id)
    read = template.encode(MESSAGES, TOOLS)
    call = template.parse(said, TOOLS, context=MESSAGES, context_ids=read)
    second = (*MESSAGES, call, *answer(call, "a.cu"))
    done = (*tokenizer.encode("the row"), tokenizer.eos_token_id)
    teach(model, [([*read], [*said]), ([*template.encode(second, TOOLS)], [*done])])
    save(tmp_path, model=model)

    chat = load(tmp_path, temperature=0, max_tokens=100)
    first = chat.reply(MESSAGES, TOOLS)
    assert first.completion_ids == said
    assert first.finish_reason is FinishReason.STOP
    assert [(each.name, each.arguments) for each in first.message.tool_calls] == [("bash", {"command": "ls"})]
    last = chat.reply((*MESSAGES, first.message, *answer(first.message, "a.cu")), TOOLS)
    assert last.message.content == "the row"
    assert last.message.tool_calls == ()


def test_the_text_form_is_used_when_asked_for(folder: Path) -> None:
    chat = load(folder, form=ToolCallForm.TEXT)
    reply = chat.reply(MESSAGES, TOOLS)
    assert "# How to act" in chat._checkpoint.tokenizer.decode(reply.prompt_ids)


def test_a_conversation_that_does_not_fit_the_window_says_so(tmp_path: Path) -> None:
    chat = load(save(tmp_path, window_tokens=220))
    long = Message(role=Role.USER, content="row kernel " * 200)
    with pytest.raises(UserError, match=r"holds 220 tokens, and the conversation has \d+: .*total-tokens"):
        chat.reply((SYSTEM, long), TOOLS)
    # And where it fits, a reply ends with the window.
    room = 220 - len(chat.template.encode(MESSAGES, ()))
    assert 0 < room < 200
    assert len(load(tmp_path, max_tokens=1000).reply(MESSAGES, ()).completion_ids or ()) <= room


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("nowhere/at/all/there", r"nowhere/at/all/there cannot be loaded"),
        ("{tmp}", r"cannot be loaded \(a folder\)"),
        ("{tmp}/model.gguf", r"model.gguf cannot be loaded"),
    ],
)
def test_what_cannot_be_loaded_is_named(tmp_path: Path, where: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load(where.format(tmp=tmp_path))


def test_a_base_model_cannot_chat(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no chat template"):
        load(save(tmp_path, template=None))


def test_numbers_and_device_are_as_wished(folder: Path) -> None:
    config = LocalConfig(device="cpu", dtype=Precision.BFLOAT16)
    chat = load_local_chat(str(folder), config, sampling=Sampling(max_tokens=4), form=ToolCallForm.NATIVE)
    assert chat._checkpoint.model.dtype is torch.bfloat16
    assert chat.name == f"local:{folder}"
    with pytest.raises(UserError, match="cannot be loaded"):
        load_local_chat(
            str(folder), LocalConfig(device="quantum"), sampling=Sampling(), form=ToolCallForm.NATIVE
        )


def test_no_other_policy_pays_for_it() -> None:
    program = (
        "import sys, cuda_agent.agent.policy; print('torch' in sys.modules, 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.slow
def test_a_checkpoint_of_the_users_keeps_its_prefix_and_logprobs() -> None:
    where = os.environ.get("CUDA_AGENT_TEST_CHECKPOINT")
    if where is None:
        pytest.skip(
            "needs CUDA_AGENT_TEST_CHECKPOINT: a folder or .gguf file, such as of SmolLM2-135M-Instruct"
        )
    chat = load(where, seed=1, max_tokens=24)
    first = chat.reply(MESSAGES, TOOLS)
    assert first.completion_logprobs == pytest.approx(compute_logprobs(chat, first), abs=1e-2)
    assert first.prompt_ids is not None
    assert first.completion_ids is not None
    before = first.prompt_ids + first.completion_ids
    second = chat.reply((*MESSAGES, first.message, Message(role=Role.USER, content="Go on.")), TOOLS)
    assert second.prompt_ids is not None
    assert second.prompt_ids[: len(before)] == before
