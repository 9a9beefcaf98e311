"""A key is read from where its name says, and nothing about it is told."""

import pytest

from cuda_agent.errors import ConfigError
from cuda_agent.llm.key import NO_KEY, hide_key, read_key


def test_a_key_is_what_its_variable_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", " sk-abc\n")
    assert read_key("SOME_KEY") == "sk-abc"
    assert read_key(None) == NO_KEY


@pytest.mark.parametrize(
    ("variable", "held", "said"),
    [
        ("sk-proj-0123456789", None, "never the key itself"),
        ("0123456789abcdef", None, "never the key itself"),
        ("SOME_KEY", None, "is not set"),
        ("SOME_KEY", "  ", "is not set"),
        ("abcdefghijklmnop", None, "is not set"),
        ("SOME_KEY", "sk-a\nX-Evil: 1", "no header can carry"),
        ("SOME_KEY", "sk-ä", "no header can carry"),
    ],
)
def test_a_mistake_is_told_without_what_was_given(
    variable: str, held: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    if held is not None:
        monkeypatch.setenv("SOME_KEY", held)
    with pytest.raises(ConfigError, match=said) as raised:
        read_key(variable)
    assert variable not in str(raised.value)
    assert held is None or not held.strip() or held not in str(raised.value)


def test_a_key_is_hidden_as_it_is_and_as_json_has_it() -> None:
    key = 'sk-"quoted"\\0123'
    assert hide_key(f"a {key} b", key) == "a [key] b"
    assert hide_key('{"a": "sk-\\"quoted\\"\\\\0123"}', key) == '{"a": "[key]"}'


def test_a_dummy_is_no_secret() -> None:
    assert hide_key("an EMPTY line", "EMPTY") == "an EMPTY line"
