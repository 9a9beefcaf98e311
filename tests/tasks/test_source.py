"""A source is parsed and checked, never run."""

import pytest

from cuda_agent.errors import TaskError
from cuda_agent.tasks.source import MAX_SOURCE_BYTES, parse_task

GOOD = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x


def get_inputs():
    return [torch.rand(3)]


def get_init_inputs():
    return []
"""


def test_a_good_source_becomes_a_task() -> None:
    task = parse_task(GOOD, name="identity")
    assert task.source == GOOD
    assert task.task_id == f"identity-{task.key[:8]}"


def test_the_source_is_not_run(capfd: pytest.CaptureFixture[str]) -> None:
    parse_task(GOOD + "\nprint('run')\nraise SystemExit(3)\n", name="loud")
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "changed",
    [
        GOOD.replace("class Model", "class Fast") + "\nModel = Fast\n",
        GOOD.replace("class Model", "class Fast") + "\nFaster = Fast\nModel: type = Faster\n",
        GOOD.replace("def get_inputs():\n    return [torch.rand(3)]", "get_inputs = lambda: [torch.rand(3)]"),
        GOOD.replace("def get_inputs():", "def get_inputs(batch=4, *, seed=0):"),
        GOOD.replace("def get_inputs():", "def make(n):").replace(
            "def get_init", "get_inputs = functools.partial(make, 3)\n\n\ndef get_init"
        ),
        GOOD.replace("class Model(nn.Module)", "class Half(nn.Module)") + "\nclass Model(Half): pass\n",
        GOOD.replace("nn.Module):\n    def forward(self, x):\n        return x", "nn.ReLU): pass"),
        GOOD.replace("def get_inputs():\n", "if True:\n  def get_inputs():\n  "),
        GOOD.replace("    def forward(self, x):\n        return x", "    forward = torch.relu"),
        GOOD.replace("\n", "\r\n"),
    ],
    ids=["alias", "alias of alias", "lambda", "defaults", "partial", "inherited forward", "torch's forward",
         "under if", "assigned forward", "crlf"],
)  # fmt: skip
def test_other_ways_to_write_a_task_are_accepted(changed: str) -> None:
    assert parse_task(changed, name="odd").name == "odd"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (GOOD.replace("return x", "return (x"), "line 7: '(' was never closed in `return (x`"),
        (GOOD.replace("class Model", "class Modell"), "Model is not defined; add `class Model"),
        (GOOD.replace("def get_inputs", "def get_input"), "get_inputs is not defined; add `def get_inputs"),
        (GOOD.replace("def get_init_inputs", "def init"), "get_init_inputs is not defined"),
        (GOOD.replace("def forward", "def run"), "line 5: Model has no forward"),
        (GOOD.replace("def get_inputs():", "def get_inputs(n):"), "line 10: get_inputs needs arguments"),
        (GOOD.replace("def get_inputs():", "def get_inputs(*, n):"), "line 10: get_inputs needs arguments"),
        (GOOD.replace("class Model(nn.Module)", "class Model"), "line 5: Model has no base class"),
        (GOOD.replace("class Model", "class Other") + "\nModel = 3\n", "line 17: Model is not a class"),
        ("from net import Model\n" + GOOD.replace("class Model", "class M"), "line 1: Model is imported"),
        (GOOD.replace("class Model", "class M") + "\nModel = B\nB = Model\n", "Model is not defined"),
        ("", "the source is empty"),
        ("\n  \n", "the source is empty"),
        ("x = '\ud800'\n" + GOOD, "lone surrogate"),
        ("a\0b", "null bytes"),
        ("#" * (MAX_SOURCE_BYTES + 1), "bytes of source"),
        ("x = " + "(" * 10_000 + ")" * 10_000, "parenthes"),
    ],
)
def test_what_is_no_task_is_named_with_its_mend(changed: str, words: str) -> None:
    with pytest.raises(TaskError) as raised:
        parse_task(changed, name="bad", origin="bad.py")
    assert str(raised.value).startswith("bad.py")
    assert words in str(raised.value)


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a b", "x" * 101])
def test_a_name_must_be_usable_as_a_file_name(name: str) -> None:
    with pytest.raises(TaskError, match="cannot name a task"):
        parse_task(GOOD, name=name)


def test_a_class_that_is_its_own_base_is_no_endless_loop() -> None:
    with pytest.raises(TaskError, match="no forward"):
        parse_task(GOOD.replace("nn.Module", "Model").replace("def forward", "def run"), name="loop")


def test_an_encoding_declaration_becomes_utf8() -> None:
    task = parse_task("#!/usr/bin/python\n# -*- coding: latin-1 -*-\n" + GOOD, name="old")
    assert "# -*- coding: utf-8 -*-" in task.source
    assert "latin" not in task.source
