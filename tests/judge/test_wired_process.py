"""A program is started with what it was given, answers over its wire, and ends when it is closed."""

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from cuda_agent.bench.gate import Basis, Survey, Surveyed
from cuda_agent.judge.wire import PeerGoneError
from cuda_agent.judge.wired_process import WiredProcess
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target

TELLING = """
import os
raise ValueError(f"{os.environ['SAID']} {os.environ['CUDA_VISIBLE_DEVICES']!r} {os.getcwd()}")
"""


def test_a_program_answers_until_it_is_closed(sandbox: Sandbox, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = WiredProcess(
        ["cuda_agent.bench.survey"], sandbox=sandbox, target=Target.CPU, scratch=scratch, env={"SAID": "yes"}
    )
    process.wire.send(Survey(code=TELLING))
    answer = process.wire.receive(TypeAdapter(Surveyed), timeout_s=120)
    assert answer.basis is Basis.NONE
    assert answer.reason == f"ValueError: yes '' {scratch}"
    assert process.running.poll() is None
    process.close()
    process.close()
    assert process.running.poll() is not None
    with pytest.raises(PeerGoneError):
        process.wire.send(Survey(code=TELLING))
    assert process.log == tmp_path / "scratch.log"
    assert process.log.read_text() == ""
