"""Lists and trees of submissions are read in order, and what cannot be meant is told."""

import json
from pathlib import Path

import pytest

from cuda_agent.environment.pairs import read_pairs
from cuda_agent.errors import UserError


def lay(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def test_a_tree_takes_the_nearest_task_above(tmp_path: Path) -> None:
    lay(tmp_path, "relu/model.py", "relu/b/model_new.py", "relu/a/model_new.py", "gelu/model.py")
    lay(tmp_path, "gelu/model_new.py", "gelu/own/deep/model_new.py", "gelu/own/model.py")
    assert [(pair.pair_id, pair.task) for pair in read_pairs(tmp_path)] == [
        ("gelu", tmp_path / "gelu/model.py"),
        ("gelu/own/deep", tmp_path / "gelu/own/model.py"),
        ("relu/a", tmp_path / "relu/model.py"),
        ("relu/b", tmp_path / "relu/model.py"),
    ]


def test_a_list_is_relative_to_itself(tmp_path: Path) -> None:
    lines = [{"id": "first", "task": "t.py", "submission": "s"}, {"task": "/abs/t.py", "submission": "s2"}]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    first, second = read_pairs(tmp_path / "pairs.jsonl")
    assert (first.pair_id, first.task, first.submission) == ("first", tmp_path / "t.py", tmp_path / "s")
    assert (second.pair_id, second.task) == ("s2", Path("/abs/t.py"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1"),
        ('{"task": "t.py"}', "submission"),
        ('["t.py", "s"]', "line 1"),
        ('{"id": "a", "task": "t", "submission": "s"}\n' * 2, "'a' comes twice"),
        ("", "nothing to evaluate"),
    ],
)
def test_what_is_no_list_is_told(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(text)
    with pytest.raises(UserError, match=words):
        read_pairs(tmp_path / "pairs.jsonl")


def test_a_tree_without_a_task_or_a_submission_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to evaluate"):
        read_pairs(tmp_path)
    lay(tmp_path, "a/model_new.py")
    with pytest.raises(UserError, match="has no task"):
        read_pairs(tmp_path)
    with pytest.raises(UserError, match="is a task: give its submission's folder too"):
        read_pairs(tmp_path / "task.py")
    with pytest.raises(UserError, match="cannot be read"):
        read_pairs(tmp_path / "nowhere.jsonl")
