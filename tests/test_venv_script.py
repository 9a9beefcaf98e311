"""scripts/venv.sh removes nothing that it did not make."""

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "venv.sh"


def test_a_folder_that_was_there_before_is_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "bin" / "python"
    kept.parent.mkdir()
    kept.write_text("somebody's")
    done = subprocess.run(["bash", SCRIPT, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{tmp_path} is there, and this script did not make it" in done.stderr
    assert kept.read_text() == "somebody's"
