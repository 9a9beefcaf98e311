"""The card counts what the records say."""

from cuda_agent.synthesis.card import SHARES, add_shares, list_shares, write_card
from cuda_agent.synthesis.crawl import Crawl
from cuda_agent.synthesis.fate import Fate, Filter, Measured
from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.similarity import Nearest
from tests.synthesis.conftest import make_candidate


def test_the_card_counts(operators: tuple[Operator, ...]) -> None:
    kept = Fate(
        candidate=make_candidate(),
        nearest=Nearest(name="level2/7_y.py", similarity=0.61),
        measured=Measured(device="a cpu", eager_ms=7.0, compile_ms=3.0),
        seconds=5.0,
    )
    gone = [
        Fate(candidate=make_candidate(number=n), dropped_by=Filter.WINDOW, reason=f"0.{n} ms")
        for n in range(3)
    ]
    left_out = {"torch.a": "random", "torch.b": "needs an argument maker: y", "transformers": "not installed"}
    found = Crawl(operators=operators, left_out=left_out)
    card = write_card([kept, *gone], recipe=Recipe(seed=9), found=found, versions="torch 1")
    assert card.startswith("# 1 tasks")
    assert "| window | 3 | 1 | #.# ms |" in card
    assert "| gate | 0 | 4 |  |" in card
    assert "| torch#2 | 1 |" in card
    assert "| 5 to 10 | 1 | ####" in card
    assert "| 0.61 | level2/7_y.py |" in card
    assert "| torch.compile faster than eager | 1 of 1 |" in card
    assert f"| torch | {len(operators) + 2} | {len(operators)} | 1 |" in card
    assert "| transformers | 1 | 0 | 0 |" in card
    assert "| torch | needs an argument maker | 1 | b |" in card
    assert "| transformers | not installed | 1 | transformers |" in card
    assert "5 s in all, 5.0 s for each kept task" in card


def test_without_kernelbench_the_card_says_so(operators: tuple[Operator, ...]) -> None:
    found = Crawl(operators=operators, left_out={})
    card = write_card([Fate(candidate=make_candidate())], recipe=Recipe(), found=found, versions="")
    assert "Not looked at" in card


def test_shares_are_added_once_and_read_back() -> None:
    card = add_shares("# 1 tasks\n", ["| a |", "| b |"])
    assert card == f"# 1 tasks\n\n{SHARES}| a |\n| b |\n"
    assert add_shares(card, ["| b |", "| c |"]) == f"{card}| c |\n"
    assert list_shares(card) == ["| a |", "| b |"]
    assert list_shares("# 1 tasks\n") == []
