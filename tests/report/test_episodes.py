"""An episode's page tells what happened, in order."""

import re

from cuda_agent.report.episodes import build_agent_pages, build_episode_page, describe_turns, name_episode
from cuda_agent.report.material import EpisodeFound, EpisodeUnderWay, Material


def test_timeline_of_the_recorded_episode(run_found: EpisodeFound) -> None:
    page = build_episode_page(run_found)
    turns = page.data["turns"]
    assert [turn["number"] for turn in turns] == [1, 2, 3]
    assert turns[0]["thought"].startswith("I traced the module: 16 operations")
    assert [call["name"] for call in turns[0]["calls"]][-1] == "bash"
    assert turns[0]["calls"][-1]["asked"] == "cuda-agent profile"
    assert turns[1]["submissions"][0]["reward"] == 3.0
    assert not turns[2]["calls"]


def test_edits_are_diffs(run_found: EpisodeFound) -> None:
    first = build_episode_page(run_found).data["turns"][0]["calls"][0]
    assert any(line.startswith("+class ModelNew") for line in first["diff"])
    assert "class ModelNew" not in first["rest"]
    assert first["diff_lines"] == len(first["diff"]) == 26


def test_a_change_that_is_cut_says_how_long_it_was(run_found: EpisodeFound) -> None:
    calls = build_episode_page(run_found).data["turns"][0]["calls"]
    assert [(len(call["diff"]), call["diff_lines"]) for call in calls if call["diff_lines"] > 400] == [
        (400, 419)
    ]


def test_times_against_both_baselines(run_found: EpisodeFound) -> None:
    final = run_found.trajectory.final
    assert final is not None
    assert final.profile is not None
    times = build_episode_page(run_found).data["final"]["times"]
    assert times["candidate_ms"] == final.profile.candidate.median_ms  # type: ignore[union-attr]
    assert times["over_compiled"]["low"] == final.profile.over_compiled.low  # type: ignore[union-attr]
    chart = build_episode_page(run_found).charts["calls"]
    assert [series.name for series in chart.series] == ["kernel", "eager", "torch.compile"]
    assert len(chart.series[0].xs) == len(final.profile.candidate.calls_ms)  # type: ignore[union-attr]


def test_best_episode_stands_on_the_first_page(recorded: Material) -> None:
    overview, *pages = build_agent_pages(recorded)
    assert len(pages) == len(recorded.episodes)
    assert overview.data["best"]["facts"]["task"].startswith("rotary")
    assert overview.data["episodes"][0]["href"] == f"{pages[0].name}.html"


def test_an_episode_under_way(run_found: EpisodeFound) -> None:
    turns = run_found.trajectory.turns[:1]
    page = build_agent_pages(Material(under_way=(EpisodeUnderWay(run="r", name="n", turns=turns),)))[0]
    assert page.data["under_way"][0]["turns"] == describe_turns(turns, ())
    assert not page.is_empty


def test_without_episodes_a_sentence_says_so() -> None:
    (page,) = build_agent_pages(Material())
    assert page.is_empty
    assert "No finished episode" in page.missing[0]


def test_names_are_harmless_and_each_its_own(run_found: EpisodeFound) -> None:
    hostile = "../../etc/passwd\x00<b>"
    trajectory = run_found.trajectory.model_copy(update={"task_id": hostile})
    other = run_found.trajectory.model_copy(update={"task_id": "../../etc/passwd\x00<i>"})
    found = (
        EpisodeFound(run="run", trajectory=trajectory),
        EpisodeFound(run="run", trajectory=other),
        EpisodeFound(run="other", trajectory=trajectory),
        EpisodeFound(run="run", trajectory=trajectory, step=0),
        EpisodeFound(run="run", trajectory=trajectory, step=1),
        EpisodeFound(run="run", trajectory=trajectory, step=1, sample=1),
    )
    names = set(map(name_episode, found))
    assert len(names) == len(found)
    assert all(re.fullmatch(r"episode-[A-Za-z0-9_-]+", name) for name in names)
