"""The scripts in runs/ call the program with options that it has, and go on where they were stopped.

The program is replaced by one that notes what it is asked for: the whole story takes an hour, its stages have
tests of their own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tyro

from cuda_agent.cli.run import RunConfig
from cuda_agent.cli.synth_make import MakeOptions
from cuda_agent.cli.train import TrainConfig

RUNS = Path(__file__).parent.parent / "runs"
NOTE = """#!{python}
import json, os, pathlib, sys
with open(os.environ["NOTES"], "a") as notes:
    notes.write(json.dumps(sys.argv[1:]) + "\\n")
place = sys.argv[sys.argv.index("--out" if "--out" in sys.argv else "--resume") + 1]
pathlib.Path(place, "checkpoints", "step-9", "actor").mkdir(parents=True, exist_ok=True)
pathlib.Path(place, "checkpoints", "step-10", "actor").mkdir(parents=True, exist_ok=True)
sys.exit(130 if pathlib.Path(place).name == os.environ.get("STOPPED") else 0)
"""
KINDS = {"run": RunConfig, "synth": MakeOptions, "train": TrainConfig}


def call(folder: Path, *command: str, stopped: str = "") -> tuple[int, list[list[str]]]:
    """A script's exit status, and what it asked the program for."""
    program = folder / "bin" / "cuda-agent"
    program.parent.mkdir(exist_ok=True)
    program.write_text(NOTE.format(python=sys.executable))
    program.chmod(0o755)
    notes = folder / "notes"
    notes.unlink(missing_ok=True)
    notes.touch()
    around = os.environ | {
        "PATH": f"{program.parent}:{os.environ['PATH']}", "NOTES": str(notes), "STOPPED": stopped
    }  # fmt: skip
    done = subprocess.run(["bash", *command], env=around, capture_output=True, text=True, check=False)
    return done.returncode, [json.loads(line) for line in notes.read_text().splitlines()]


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_every_option_of_the_whole_story_and_its_ablations_is_one(kind: str, tmp_path: Path) -> None:
    status, asked = call(tmp_path, str(RUNS / "ablations.sh"), kind, str(tmp_path / "story"))
    assert status == 0
    assert [arguments[0] for arguments in asked[:5]] == ["synth", "run", "run", "train", "train"]
    for verb, *arguments in asked:
        tyro.cli(KINDS[verb], args=arguments, config=(tyro.conf.EnumChoicesFromValues,))
    stages = [arguments[1] for arguments in asked if arguments[0] == "train"]
    assert stages == [
        "imitate", "imitate", "value", "single-turn", "rft", "value", "ppo", "ppo", "value", "ppo", "ppo"
    ]  # fmt: skip
    policies = [arguments[arguments.index("--policy") + 1] for arguments in asked if arguments[0] == "run"]
    assert policies[2] == f"local:{tmp_path}/story/imitate/checkpoints/step-10/actor"
    assert policies[3] == f"local:{tmp_path}/story/single_turn/checkpoints/step-10/actor"
    benches = [arguments for arguments in asked if "--verdicts" not in arguments and arguments[0] == "run"]
    assert len(benches) == 8
    assert call(tmp_path, str(RUNS / "ablations.sh"), kind, str(tmp_path / "story")) == (0, [])


def test_a_script_that_was_stopped_goes_on_with_the_part_it_was_in(tmp_path: Path) -> None:
    script, story = str(RUNS / "tiny_cpu.sh"), str(tmp_path / "story")
    status, asked = call(tmp_path, script, story, stopped="rft")
    assert status == 75
    assert asked[-1][:2] == ["train", "rft"]
    assert "--out" in asked[-1]
    status, more = call(tmp_path, script, story)
    assert status == 0
    assert more[0][-2:] == ["--resume", f"{story}/rft"]
    assert more[0][:-2] == asked[-1][:-2]
    assert [arguments[1] for arguments in more[:3]] == ["rft", "value", "ppo"]
