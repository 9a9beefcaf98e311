"""What others wrote is harmless once it is shown."""

from cuda_agent.report.shown import clip, make_shown


def test_all_texts_of_nested_data() -> None:
    shown = make_shown({"a\x1b": ["b\u202e", {"c": ("d\ne",)}], "n": 1.5, "none": None})
    assert shown == {"a\\x1b": ["b\\u202e", {"c": ["d\ne"]}], "n": 1.5, "none": None}


def test_long_text_keeps_both_ends() -> None:
    text = clip("a" * 50 + "b" * 50, 20)
    assert text.startswith("a" * 10 + "\n[... 80 characters left out ...]")
    assert text.endswith("b" * 10)
    assert clip("short", 20) == "short"
