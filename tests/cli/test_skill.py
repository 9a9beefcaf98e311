"""The verb `skill`."""

from pathlib import Path

import pytest

from cuda_agent.cli.main import main


def test_install_says_where(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["skill", "install", str(tmp_path / "skills")]) == 0
    (place,) = (tmp_path / "skills").iterdir()
    assert capfd.readouterr().out == f"installed: {place}\n"
    assert (place / "SKILL.md").is_file()


def test_a_folder_that_cannot_be_written_is_wrong_use(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["skill", "install", str(tmp_path / "file")]) == 2
    assert "choose another folder" in capfd.readouterr().err


def test_another_action_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["skill", "remove", str(tmp_path)])
    assert stopped.value.code == 2
