"""Nothing that cannot be printed gets through, and everything else does."""

from cuda_agent.printable import make_lines_printable, make_printable


def test_control_characters_are_shown_as_escapes() -> None:
    assert make_printable("a\nreward: 3\r\x1b[2J\u202e\tz") == "a\\nreward: 3\\r\\x1b[2J\\u202e    z"


def test_of_several_lines_only_their_breaks_stay() -> None:
    assert make_lines_printable("a\n\x1b[1A\tb\x9b2J\n") == "a\n\\x1b[1A    b\\x9b2J\n"


def test_ordinary_text_stays() -> None:
    assert make_printable("größer als 1 µs, [red]") == "größer als 1 µs, [red]"
