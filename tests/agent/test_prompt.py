"""What an agent reads first."""

import pytest

from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.prompt import PromptForm, build_prompt
from cuda_agent.expert.study import list_headers
from cuda_agent.llm.chat import Role
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


@pytest.mark.parametrize(
    ("target", "language", "files"), [(Target.CPU, " C++", "`*.cpp`"), (Target.CUDA, " CUDA C++", "`*.cu`")]
)
def test_the_user_message_holds_target_and_reference(target: Target, language: str, files: str) -> None:
    task = Task(name="t", source="import torch\nx = '<b>{{ y }}</b>'\n")
    system, user = build_prompt(task, target=target, limits=EpisodeLimits(turns=77, command_s=30))
    assert (system.role, user.role) == (Role.SYSTEM, Role.USER)
    lines = user.content.split("\n")
    assert f"Target: {target}" in lines
    start = lines.index("## model.py")
    assert lines[start + 1 : start + 6] == ["", "```python", "import torch", "x = '<b>{{ y }}</b>'", "```"]
    assert language in system.content
    assert files in system.content
    assert "77 replies, 30 seconds" in system.content
    for command in ("build", "verify", "profile", "submit"):
        assert f"`cuda-agent {command}`" in system.content


def test_backticks_in_the_reference_do_not_end_its_block() -> None:
    source = 'class Model:\n    """As in\n\n```python\nmodel(x)\n```\n"""'
    _, user = build_prompt(Task(name="t", source=source), target=Target.CPU, limits=EpisodeLimits())
    assert f"````python\n{source}\n````" in user.content


@pytest.mark.parametrize("target", list(Target))
def test_brief_forms_name_the_headers_in_place_and_still_hold_the_reference(target: Target) -> None:
    task = Task(name="t", source="import torch\n")
    texts = {}
    for form in (PromptForm.BRIEF, PromptForm.SINGLE):
        system, user = build_prompt(task, target=target, limits=EpisodeLimits(), form=form)
        assert user.content == f"{target}\n## model.py\n```python\nimport torch\n```"
        assert all(f"`kernels/{name}`" in system.content for name in list_headers(target))
        texts[form] = system.content
    assert "`cuda-agent submit`" in texts[PromptForm.BRIEF]
    assert "cuda-agent" not in texts[PromptForm.SINGLE]
    assert not PromptForm.FULL.has_headers
