import jinja2
import pytest

from cuda_agent.expert.template import TEMPLATES, load_template


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        load_template("give_up.md.jinja")


def test_values_are_filled_in() -> None:
    assert load_template("give_up.md.jinja", reason="it is raining").startswith(
        "I cannot improve this module: it is raining."
    )
    assert {path.suffix for path in TEMPLATES.iterdir()} == {".h", ".jinja"}
