"""Only what may be handed in is taken, whatever else stands in the folder."""

import os
from pathlib import Path

import pytest

from cuda_agent.environment.submission import MAX_FILE_BYTES, MAX_FILES, Submission, freeze_submission
from cuda_agent.errors import UserError


def test_takes_the_model_and_kernels_and_lists_the_rest(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    (folder / "kernels" / "old.o").write_bytes(b"\x7fELF")
    frozen = freeze_submission(folder)
    assert list(frozen.files) == ["kernels/relu_scale.cpp", "model_new.py"]
    assert frozen.ignored == ("kernels/old.o", "notes.txt")
    assert frozen.problems == ()


def test_sha_depends_on_names_and_contents_alone(submission: Submission, tmp_path: Path) -> None:
    submission.write_to(tmp_path)
    (tmp_path / "notes.txt").write_text("not part of it")
    assert freeze_submission(tmp_path).sha == submission.sha
    renamed = {path.replace("relu", "other"): content for path, content in submission.files.items()}
    assert Submission(renamed).sha != submission.sha
    assert Submission({**submission.files, "model_new.py": b"import torch"}).sha != submission.sha


def test_files_cannot_be_changed(submission: Submission) -> None:
    with pytest.raises(TypeError):
        submission.files["model_new.py"] = b""  # type: ignore[index]


def test_a_giant_is_not_read(folder: Path) -> None:
    with open(folder / "kernels" / "giant.cpp", "wb") as stream:
        stream.truncate(1 << 40)
    frozen = freeze_submission(folder)
    assert [problem.file for problem in frozen.problems] == ["kernels/giant.cpp"]
    assert "too large" in frozen.problems[0].reason


def test_a_file_at_the_limit_is_taken_and_all_together_are_bounded(folder: Path) -> None:
    for number in range(5):
        (folder / "kernels" / f"big{number}.h").write_bytes(b" " * MAX_FILE_BYTES)
    frozen = freeze_submission(folder)
    assert len(frozen.files["kernels/big0.h"]) == MAX_FILE_BYTES
    assert sum(map(len, frozen.files.values())) <= 4 * MAX_FILE_BYTES
    assert frozen.problems


@pytest.mark.parametrize("name", ["model_new.py", "kernels/relu_scale.cpp"])
def test_links_are_refused(folder: Path, tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (folder / name).unlink()
    (folder / name).symlink_to(secret)
    frozen = freeze_submission(folder)
    assert [problem.file for problem in frozen.problems] == [name]
    assert b"secret" not in frozen.files.values()


def test_a_linked_kernels_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "kernels").rename(tmp_path / "elsewhere")
    (folder / "kernels").symlink_to(tmp_path / "elsewhere")
    assert [problem.file for problem in freeze_submission(folder).problems] == ["kernels"]


def test_a_pipe_is_refused_without_waiting_for_a_writer(folder: Path) -> None:
    os.mkfifo(folder / "kernels" / "pipe.cpp")
    assert [problem.file for problem in freeze_submission(folder).problems] == ["kernels/pipe.cpp"]


def test_odd_names_and_too_many_files_are_refused(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder / "kernels") + b"/\xff.cpp")).write_text("")
    (folder / "kernels" / "-o x.cpp").write_text("")
    (folder / "kernels" / "a\nreward: 3\n.cpp").write_text("")
    for number in range(MAX_FILES):
        (folder / "kernels" / f"k{number}.h").write_text("")
    problems = {problem.file: problem.reason for problem in freeze_submission(folder).problems}
    assert "kernels/\\xff.cpp" in problems
    assert "kernels/-o x.cpp" in problems
    assert "kernels/a\\nreward: 3\\n.cpp" in problems  # it cannot forge a line of a report
    assert any("more than 64 files" in reason for reason in problems.values())


def test_a_missing_model_is_a_problem_and_a_missing_folder_an_error(tmp_path: Path) -> None:
    assert [problem.file for problem in freeze_submission(tmp_path).problems] == ["model_new.py"]
    with pytest.raises(UserError, match="not a folder"):
        freeze_submission(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "path",
    [
        "../model_new.py",
        "/model_new.py",
        "kernels/../a.h",
        "kernels/a/b.h",
        "kernels/.a.h",
        "kernels/a.so",
        "",
        "x",
    ],
)
def test_no_submission_holds_a_name_that_does_not_count(path: str) -> None:
    with pytest.raises(ValueError, match="is neither"):
        Submission({"model_new.py": b"", path: b""})


def test_no_submission_is_larger_than_what_may_be_taken() -> None:
    with pytest.raises(ValueError, match="more than"):
        Submission({"kernels/a.h": bytes(MAX_FILE_BYTES + 1)})
    with pytest.raises(ValueError, match="more than"):
        Submission({f"kernels/{number}.h": b"" for number in range(MAX_FILES + 1)})
