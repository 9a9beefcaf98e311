import random

import pytest
import torch

from cuda_agent.llm.local import Asked, Sampled
from cuda_agent.rl.decoder import CHUNK, Decoder
from tests.llm.tiny_llama import build_model, build_tokenizer

WINDOW = 2 * CHUNK
END = 1


@pytest.fixture(scope="module")
def model() -> torch.nn.Module:
    built: torch.nn.Module = build_model(build_tokenizer(), window_tokens=WINDOW)
    return built


def build(model: torch.nn.Module, *, slots: int = 3, temperature: float = 1.0, top_p: float = 1.0) -> Decoder:
    return Decoder(
        model, end_ids=(END,), slots=slots, window_tokens=WINDOW, temperature=temperature, top_p=top_p
    )


def make_prompt(seed: int, length: int) -> tuple[int, ...]:
    numbers = random.Random(seed)
    return tuple(numbers.randrange(2, 290) for _ in range(length))


def finish(decoder: Decoder, wanted: set[int]) -> dict[int, Sampled]:
    ended: dict[int, Sampled] = {}
    while set(ended) < wanted:
        ended |= decoder.step()
    return ended


def ask(decoder: Decoder, slot: int, *, prompt: tuple[int, ...], seed: int = 0, most: int = 40) -> Sampled:
    decoder.begin(slot, Asked(prompt, most, seed))
    return finish(decoder, {slot})[slot]


def compute_fresh(model: torch.nn.Module, prompt: tuple[int, ...], *, said: Sampled) -> list[float]:
    """The log-probabilities by one pass over everything, without a cache."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([[*prompt, *said.ids]])).logits[0].float()
    logprobs = torch.log_softmax(logits[len(prompt) - 1 : -1], dim=-1)
    return logprobs.gather(-1, torch.tensor(said.ids)[:, None])[:, 0].tolist()


def test_logprobs_are_those_of_a_fresh_pass_also_of_a_prompt_in_several_chunks(
    model: torch.nn.Module,
) -> None:
    for length in (1, 7, CHUNK + 9):
        prompt = make_prompt(length, length)
        said = ask(build(model), 1, prompt=prompt)
        assert said.logprobs == pytest.approx(compute_fresh(model, prompt, said=said), abs=1e-4)


def test_what_is_said_does_not_depend_on_company(model: torch.nn.Module) -> None:
    asked = [Asked(make_prompt(n, 5 + 30 * n), 30 + n, seed=n) for n in range(5)]
    alone = []
    for one in asked:
        decoder = build(model, slots=1)
        decoder.begin(0, one)
        alone.append(finish(decoder, {0})[0])
    decoder = build(model, slots=5)
    together: dict[int, Sampled] = {}
    for n, one in enumerate(asked):
        decoder.begin(4 - n, one)
        # Each comes when the others are in the middle of something.
        together |= decoder.step() | decoder.step()
    together |= finish(decoder, set(range(5)) - set(together))
    assert [together[4 - n].ids for n in range(5)] == [said.ids for said in alone]
    for n, said in enumerate(alone):
        assert together[4 - n].logprobs == pytest.approx(said.logprobs, abs=1e-4)


def test_a_conversation_goes_on_where_it_was_and_says_what_it_would_say_afresh(
    model: torch.nn.Module,
) -> None:
    first, answer = make_prompt(1, 200), make_prompt(2, 30)
    decoder = build(model)
    said = ask(decoder, 2, prompt=first, seed=1)
    assert decoder.tokens_read == 200
    second = (*first, *said.ids, *answer)
    # Somebody else talks meanwhile, in a slot of its own.
    ask(decoder, 0, prompt=make_prompt(9, 50), seed=9)
    decoder.tokens_read = 0
    again = ask(decoder, 2, prompt=second, seed=2)
    # The last token sampled was never read, so it is now; all else of the past is kept.
    assert decoder.tokens_read == 1 + len(answer)
    assert again.ids == ask(build(model), 0, prompt=second, seed=2).ids
    assert again.logprobs == pytest.approx(compute_fresh(model, second, said=again), abs=1e-4)


def test_a_prompt_that_leaves_the_past_is_read_from_where_it_differs(model: torch.nn.Module) -> None:
    decoder = build(model)
    first = make_prompt(1, 100)
    ask(decoder, 0, prompt=first)
    decoder.tokens_read = 0
    changed = (*first[:60], 7, *make_prompt(3, 20))
    said = ask(decoder, 0, prompt=changed, seed=3)
    assert decoder.tokens_read == 21
    assert said.ids == ask(build(model), 0, prompt=changed, seed=3).ids


def test_a_reply_ends_at_its_cap_or_at_the_end_token(model: torch.nn.Module) -> None:
    prompt = make_prompt(1, 5)
    long = ask(build(model), 0, prompt=prompt, seed=3, most=30)
    assert len(long.ids) == 30
    ends = Decoder(model, end_ids=(long.ids[9],), slots=1, window_tokens=WINDOW)
    assert ask(ends, 0, prompt=prompt, seed=3, most=30).ids == long.ids[: long.ids.index(long.ids[9]) + 1]


def test_a_reply_can_be_given_up_in_its_middle(model: torch.nn.Module) -> None:
    decoder = build(model)
    decoder.begin(0, Asked(make_prompt(1, 5), 400, 0))
    decoder.step()
    decoder.give_up(0)
    assert decoder.step() == {}
    other = make_prompt(2, 5)
    assert ask(decoder, 0, prompt=other, seed=4).ids == ask(build(model), 1, prompt=other, seed=4).ids


def test_draws_follow_the_distribution(model: torch.nn.Module) -> None:
    prompt = make_prompt(1, 3)
    with torch.inference_mode():
        wanted = torch.softmax(model(input_ids=torch.tensor([prompt])).logits[0, -1].float(), dim=-1)
    decoder = build(model, slots=200)
    counts = torch.zeros_like(wanted)
    for start in range(0, 2000, 200):
        for slot in range(200):
            decoder.begin(slot, Asked(prompt, 1, start + slot))
        for said in decoder.step().values():
            counts[said.ids[0]] += 1
    # Chi-squared over all tokens: its mean is their number less one, its deviation sqrt(2 (K - 1)).
    expected = 2000 * wanted
    chi2 = ((counts - expected).square() / expected).sum().item()
    freedom = len(wanted) - 1
    assert abs(chi2 - freedom) < 5 * (2 * freedom) ** 0.5


def test_temperature_and_nucleus_are_in_the_logprobs(model: torch.nn.Module) -> None:
    greedy = ask(build(model, temperature=0.0), 0, prompt=make_prompt(1, 9), seed=1)
    assert set(greedy.logprobs) == {0.0}
    assert greedy.ids == ask(build(model, temperature=0.0), 1, prompt=make_prompt(1, 9), seed=2).ids
    narrow = ask(build(model, top_p=0.3), 0, prompt=make_prompt(1, 9), seed=1)
    wide = compute_fresh(model, make_prompt(1, 9), said=narrow)
    assert all(cut > whole for cut, whole in zip(narrow.logprobs, wide, strict=True))


@pytest.mark.gpu
def test_graphs_say_what_passes_without_them_say(model: torch.nn.Module) -> None:
    on_gpu = build_model(build_tokenizer(), window_tokens=WINDOW).to("cuda")
    prompt = make_prompt(1, 100)
    said = ask(build(on_gpu), 0, prompt=prompt, seed=3, most=200)
    plain = build(on_gpu)
    plain._graphs = None
    assert said.ids == ask(plain, 0, prompt=prompt, seed=3, most=200).ids
