"""The judge's counts are those of its verdicts."""

from cuda_agent.judge.result import ProfileStatus
from cuda_agent.report.judge_page import build_judge_page
from cuda_agent.report.judged import Race
from cuda_agent.report.material import Material
from cuda_agent.tasks.target import Target


def test_counts_of_the_recorded_sweeps(recorded: Material) -> None:
    page = build_judge_page(recorded)
    cpu = next(each for each in page.data["targets"] if each["target"] == "cpu")
    hacks = [case for case in recorded.cases if (case.corpus, case.target) == ("hacks", Target.CPU)]
    paid = [case for case in hacks if case.verdict == "ok" and not case.is_right]
    assert (cpu["hacks"]["n"], cpu["hacks"]["wrong"]) == (len(hacks), len(paid))
    assert len(hacks) > 100
    bars = page.charts["hacks"]
    assert sum(value or 0 for line in bars.series for value in line.ys) == sum(
        case.corpus == "hacks" for case in recorded.cases
    )
    assert len(page.tables["cases"]["rows"]) == len(recorded.cases)


def test_what_went_wrong_stands_first(recorded: Material) -> None:
    table = build_judge_page(recorded).tables["cases"]
    column = [each["key"] for each in table["columns"]].index("is_right")
    verdicts = [row[column] for row in table["rows"]]
    wrong = sum(not case.is_right for case in recorded.cases)
    assert verdicts == ["no"] * wrong + ["yes"] * (len(verdicts) - wrong)


def test_a_cheat_that_another_check_stopped_is_not_missed(recorded: Material) -> None:
    cheat = next(case for case in recorded.cases if case.corpus == "hacks")
    elsewise = cheat.model_copy(update={"verdict": "verify:crashed", "is_right": False})
    paid = cheat.model_copy(update={"verdict": "ok", "is_right": False, "reward": 3.0})
    page = build_judge_page(Material(cases=(elsewise, paid, cheat)))
    [target] = page.data["targets"]
    assert (target["hacks"]["right"], target["hacks"]["wrong"]) == (2, 1)
    assert [row[1] for row in page.tables["cases"]["rows"]] == ["ok", "verify:crashed", cheat.verdict]


def test_noise_of_identical_code() -> None:
    races = (
        Race(
            target=Target.CPU, elements=1, status=ProfileStatus.OK, eager_ms=1, ratio=1.2, low=1.1, high=1.3
        ),
        Race(
            target=Target.CPU, elements=2, status=ProfileStatus.OK, eager_ms=2, ratio=1.1, low=0.9, high=1.3
        ),
        Race(target=Target.CPU, elements=3, status=ProfileStatus.CRASHED),
    )
    page = build_judge_page(Material(races=races))
    assert page.data["races"] == {"n": 3, "timed": 2, "won_at_lower_bound": 1, "won_at_point": 2}
    assert page.charts["races"].series[0].ys == (1.2, 1.1)


def test_what_each_line_of_defence_adds(recorded: Material) -> None:
    case = recorded.cases[0].model_copy(
        update={"corpus": "hacks", "without": ("guard",), "is_right": False, "verdict": "ok"}
    )
    page = build_judge_page(Material(cases=(case,)))
    assert page.data["layers"] == [{"without": ["guard"], "n": 1, "stopped": 0}]
    assert page.data["targets"] == []


def test_nothing_is_faked() -> None:
    page = build_judge_page(Material())
    assert page.is_empty
    assert len(page.missing) == 4
