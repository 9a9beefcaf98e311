"""Nothing that cannot be printed gets through, and everything else does."""

from cuda_agent.printable import make_printable


def test_control_characters_are_shown_as_escapes() -> None:
    assert make_printable("a\nreward: 3\r\x1b[2J\u202e\tz") == "a\\nreward: 3\\r\\x1b[2J\\u202e    z"


def test_ordinary_text_stays() -> None:
    assert make_printable("größer als 1 µs, [red]") == "größer als 1 µs, [red]"
