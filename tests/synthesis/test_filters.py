"""Each filter of the text drops its case, with a reason, and keeps another."""

from cuda_agent.synthesis.fate import Filter
from cuda_agent.synthesis.filters import TextFilters
from cuda_agent.synthesis.similarity import compute_print
from tests.synthesis.conftest import GOOD, RENAMED, make_candidate


def make_filters(**known: str) -> TextFilters:
    return TextFilters(
        kernelbench={name: compute_print(code) for name, code in known.items()}, similarity=0.9
    )


def test_a_good_program_is_kept() -> None:
    fate = make_filters().check(make_candidate())
    assert fate.is_kept
    assert fate.nearest is None


def test_what_is_no_task_is_dropped() -> None:
    deep = GOOD.replace("torch.tanh(x)", " + ".join(["torch.tanh(x)"] * 900))
    for code in ("def", GOOD.replace("class Model", "class Net"), deep):
        assert make_filters().check(make_candidate(code)).dropped_by is Filter.PARSES


def test_a_duplicate_is_dropped_and_names_the_first() -> None:
    filters = make_filters()
    assert filters.check(make_candidate(number=4)).is_kept
    fate = filters.check(make_candidate(RENAMED, number=5))
    assert (fate.dropped_by, fate.reason) == (Filter.DUPLICATE, "of candidate 4")


def test_of_a_family_only_the_same_sizes_are_a_duplicate() -> None:
    filters = make_filters()
    one, other, third = (
        make_candidate(code, number=number).model_copy(update={"family": "0-0"})
        for number, code in enumerate(
            (GOOD, RENAMED, RENAMED.replace("wide", "w").replace("n = 64", "n = 2**6"))
        )
    )
    assert filters.check(one).is_kept
    assert filters.check(other).is_kept
    assert filters.check(other.model_copy(update={"number": 7})).reason == "of candidate 1"
    stranger = make_candidate(GOOD.replace("32", "48"), number=8).model_copy(update={"family": "0-1"})
    assert filters.check(stranger).reason == "of candidate 0"
    inlined = RENAMED.replace("(128, n)", "(128, 64)").replace("value", "v").replace("layer", "dense")
    assert filters.check(third.model_copy(update={"code": inlined})).reason == "of candidate 1"


def test_a_recorded_candidate_is_remembered_without_being_read() -> None:
    recorded = make_filters().check(make_candidate(number=4))
    filters = make_filters()
    filters.remember(recorded)
    filters.remember(make_filters().check(make_candidate("def", number=3)))
    fate = filters.check(make_candidate(RENAMED, number=5))
    assert (fate.dropped_by, fate.reason) == (Filter.DUPLICATE, "of candidate 4")


def test_a_false_label_is_dropped() -> None:
    fate = make_filters().check(make_candidate(ops=("torch.nn.Conv2d",)))
    assert (fate.dropped_by, fate.reason) == (Filter.LABEL, "torch.nn.Conv2d does not occur")


def test_a_known_task_with_other_constants_is_dropped() -> None:
    filters = make_filters(one=RENAMED, two=GOOD.replace("torch.tanh(x)", "x.sum()"))
    fate = filters.check(make_candidate(GOOD.replace("32", "512")))
    assert (fate.dropped_by, fate.reason) == (Filter.SIMILAR, "1.00 to one")
    other = filters.check(make_candidate(GOOD.replace("tanh", "sin"), number=1, ops=("torch.sin",)))
    assert other.is_kept
    assert other.nearest is not None
    assert 0.3 < other.nearest.similarity < 0.9


def test_a_dropout_is_dropped() -> None:
    code = GOOD.replace("torch.tanh(x)", "torch.dropout(x, 0.5, self.training)")
    fate = make_filters().check(make_candidate(code, ops=("torch.dropout",)))
    assert fate.dropped_by is Filter.STOCHASTIC


def test_a_reason_forges_no_line() -> None:
    fate = make_filters().check(make_candidate(ops=("torch.\x1b[2J\nkept",)))
    assert fate.reason == "torch.\\x1b[2J\\nkept does not occur"
