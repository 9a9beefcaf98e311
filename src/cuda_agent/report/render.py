"""Pages as HTML: templates with autoescape, one style and one script, allowed by their hashes alone."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files

import jinja2
from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer, PythonLexer

from cuda_agent.report.page import Page, format_ms, format_times
from cuda_agent.report.shown import make_shown

SCRIPTS = ("dom", "charts", "draw", "tables", "replay", "reward", "site")
"""Files of `assets/` that make up the script, in order."""
CODE_CHARACTERS = 200_000
"""The most of one source file that a page shows."""


class Renderer:
    """Renders the pages of one site, which share menu, style and script."""

    def __init__(self, menu: Sequence[Page], *, is_live: bool = False) -> None:
        """`menu` are the pages that every page links to."""
        self._menu = [(page.name, page.title) for page in menu]
        self._is_live = is_live
        self._style = _read("style.css")
        self._script = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
        self._environment = jinja2.Environment(
            loader=jinja2.PackageLoader("cuda_agent.report"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= {
            "highlight": highlight_source,
            "prose": mark_code,
            "ms": format_ms,
            "times": format_times,
            "percent": lambda value: f"{100 * value:.1f} %",
        }

    def render(self, page: Page) -> str:
        """One page as a whole HTML file."""
        shown = make_shown(page.model_dump(mode="json"), most=CODE_CHARACTERS)
        assert isinstance(shown, dict)
        inlined = {"charts": shown["charts"], "tables": shown["tables"]}
        if page.template == "reward":
            inlined["reward"] = shown["data"]
        return self._environment.get_template(f"{page.template}.html.jinja").render(
            page=shown,
            data=shown["data"],
            menu=self._menu,
            is_live=self._is_live,
            policy=self._build_policy(),
            style=Markup(self._style),
            script=Markup(self._script),
            inlined=_inline_json(inlined),
        )

    def _build_policy(self) -> str:
        """The content security policy: this style, this script, and no network but the live view's."""
        connect = "'self'" if self._is_live else "'none'"
        return (
            f"default-src 'none'; style-src '{_hash(self._style)}'; script-src '{_hash(self._script)}'; "
            f"connect-src {connect}; base-uri 'none'; form-action 'none'"
        )


def highlight_source(text: str, path: str) -> Markup:
    """Source as HTML with the classes of pygments, which escapes it."""
    lexer = PythonLexer(stripnl=False) if path.endswith(".py") else CppLexer(stripnl=False)
    return Markup(highlight(text, lexer, HtmlFormatter(nowrap=True)))


def mark_code(text: str) -> Markup:
    """Text as HTML in which what stands between backticks is code; everything else is escaped."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _inline_json(value: object) -> Markup:
    """JSON that cannot end the script element it stands in: everything but ASCII, and `<`, as escapes."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _read(name: str) -> str:
    return (files("cuda_agent.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
