"""Text that others wrote, as one harmless line: nothing in it moves a cursor or forges a report."""


def make_printable(text: str) -> str:
    """The text with tabs as spaces and every other character that cannot be printed as its escape."""
    return "".join(_show(character) for character in text)


def make_lines_printable(text: str) -> str:
    """The same of a text of several lines, whose line breaks stay."""
    return "\n".join(map(make_printable, text.split("\n")))


def _show(character: str) -> str:
    if character == "\t":
        return "    "
    return character if character.isprintable() else character.encode("unicode_escape").decode()
