"""What others wrote, made harmless once for every page: on a page's data as a whole, never text by text.

Control characters and those that turn the direction of writing become visible escapes here; markup is made
text by the templates' autoescape and, in scripts, by `textContent`.
"""

from cuda_agent.printable import make_lines_printable

TEXT_CHARACTERS = 8_000
"""The most of one text that a page shows; the record has all of it."""


def make_shown(value: object, *, most: int = TEXT_CHARACTERS) -> object:
    """The same data with every text printable and no longer than `most`; keys included."""
    match value:
        case str():
            return make_lines_printable(clip(value, most))
        case dict():
            return {
                make_lines_printable(str(key)): make_shown(each, most=most) for key, each in value.items()
            }
        case list() | tuple():
            return [make_shown(each, most=most) for each in value]
    return value


def clip(text: str, most: int = TEXT_CHARACTERS) -> str:
    """A text's beginning and end, with a note of what lies between."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[-half:]}"
