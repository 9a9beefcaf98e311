"""Long outputs are cut in the middle and whole in a file, or just cut where that cannot be."""

from pathlib import Path

from cuda_agent.agent.tools.outputs import Outputs, truncate_middle


def test_a_long_text_keeps_head_and_tail_and_says_what_was_cut() -> None:
    assert truncate_middle("x" * 100, 100) == "x" * 100
    text = "a" * 60 + "b" * 60
    assert truncate_middle(text, 100) == "a" * 50 + "\n[... 20 characters cut ...]\n" + "b" * 50


def test_what_is_cut_is_whole_in_a_file(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, shown_characters=10)
    assert outputs.shorten("0123456789") == "0123456789"
    assert not (tmp_path / "outputs").exists()
    said = outputs.shorten("01234" + "é" * 7 + "56789")
    assert said == "01234\n[... 7 characters cut; all of it: outputs/001.txt ...]\n56789"
    assert (tmp_path / "outputs" / "001.txt").read_text() == "01234" + "é" * 7 + "56789"
    assert "outputs/002.txt" in outputs.shorten("y" * 11)


def test_a_text_that_was_shortened_before_is_where_it_was_kept(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, shown_characters=10)
    said = outputs.shorten("x" * 100)
    assert outputs.keep(said) == "outputs/001.txt"
    assert outputs.keep("short") == "outputs/002.txt"


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "outputs").symlink_to(outside)
    assert Outputs(root, shown_characters=4).shorten("x" * 9) == "xx\n[... 5 characters cut ...]\nxx"
    assert list(outside.iterdir()) == []
