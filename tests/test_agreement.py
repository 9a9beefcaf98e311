"""What another harness is given calls the kernels that were judged, with the reference's weights."""

import subprocess
import sys
from pathlib import Path

from cuda_agent.environment.winner import find_winner
from scripts.agreement import build, join, wrap

PROGRAM = """
import sys
import torch

scope, given = {}, {}
exec(open(sys.argv[1]).read(), scope)
exec(open(sys.argv[2]).read(), given)
torch.manual_seed(1)
arguments, inputs = scope["get_init_inputs"](), scope["get_inputs"]()
torch.manual_seed(2)
reference = scope["Model"](*arguments)
torch.manual_seed(2)
with torch.no_grad():
    wanted, got = reference(*inputs), given["ModelNew"](*arguments)(*inputs)
print(torch.allclose(wanted, got, rtol=1e-4, atol=1e-4))
"""


def test_a_wrapped_winner_is_right_only_with_its_kernels(repository: Path, tmp_path: Path) -> None:
    winner = find_winner(repository / "docs" / "results" / "2026-11-30-epyc2-run", "focal_loss")
    library = build(winner, tmp_path)
    (tmp_path / "reference.py").write_text(winner.task.source)
    answers = []
    for variant in ("as it is", "switched off"):
        (tmp_path / "solution.py").write_text(wrap(winner, library, variant=variant))
        argv = [
            sys.executable,
            "-c",
            PROGRAM,
            *(str(tmp_path / f"{name}.py") for name in ("reference", "solution")),
        ]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        answers.append(done.stdout.strip())
    assert answers == ["True", "False"]


def test_rows_tell_where_both_differ(repository: Path) -> None:
    winner = find_winner(repository / "docs" / "results" / "2026-11-30-epyc2-run", "focal_loss")
    answer: dict[str, object] = {"correct": True, "runtime_ms": 2.0, "reference_ms": 5.0}
    row = join(winner, "as it is", answer=answer)
    assert (row.agrees, row.theirs_speedup, row.ours) == (True, 2.5, "ok")
    assert not join(winner, "switched off", answer=answer).agrees
    assert not join(winner, "as it is", answer={"metadata": {"harness": "no answer"}}).agrees
