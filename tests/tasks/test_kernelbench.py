"""A task file, or a clear error."""

import os
from pathlib import Path

import pytest

from cuda_agent.errors import TaskError
from cuda_agent.tasks.kernelbench import load_task

SOURCE = """\
import torch
class Model(torch.nn.Module):
    \"\"\"Größe.\"\"\"
    def forward(self, x): return x
def get_inputs(): return [torch.rand(3)]
def get_init_inputs(): return []
"""


def test_the_name_is_the_stem(tmp_path: Path) -> None:
    path = tmp_path / "1 Square matrix.py"
    path.write_text(SOURCE)
    task = load_task(path)
    assert task.name == "1_Square_matrix"
    assert task.source == SOURCE


@pytest.mark.parametrize(
    "data",
    [
        SOURCE.encode(),
        b"\xef\xbb\xbf" + SOURCE.encode(),
        b"# coding: latin-1\n" + SOURCE.encode("latin-1"),
        SOURCE.replace("\n", "\r\n").encode(),
    ],
    ids=["utf-8", "byte order mark", "declared latin-1", "crlf"],
)
def test_encodings_that_python_reads_are_read(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "task.py"
    path.write_bytes(data)
    source = load_task(path).source
    assert "Größe" in source
    assert source.endswith(SOURCE)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (SOURCE.encode("latin-1"), "save it as UTF-8"),
        (SOURCE.encode("utf-16"), "line 1: holds a null byte"),
        (b"a = 1\n\0", "line 2: holds a null byte"),
        (b"# coding: klingon\n", "klingon"),
        (b"# coding: hex\n", "hex"),
        (b"a = 1\n" * 3 + b"\xff", "line 4: byte 0xff is not utf-8"),
        (b"", "the source is empty"),
        (b"#" * (2 << 20), "a task is a short program"),
    ],
)
def test_what_is_not_text_is_refused(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "task.py"
    path.write_bytes(data)
    with pytest.raises(TaskError) as raised:
        load_task(path)
    assert words in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_missing_file_a_folder_and_a_pipe_are_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.py").touch()
    for path, words in [
        ("none.py", "no such file"),
        ("folder", "one of its 1 .py files"),
        ("pipe.py", "regular"),
    ]:
        with pytest.raises(TaskError, match=words):
            load_task(tmp_path / path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "task.py"
    path.touch(mode=0)
    with pytest.raises(TaskError, match="permissions"):
        load_task(path)
