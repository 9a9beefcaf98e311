"""Install the skill where agents look for skills: a folder with SKILL.md, references and examples.

Exit status: 0 installed; 2 wrong use.
"""

from pathlib import Path
from typing import Literal

import tyro

from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.config import Config
from cuda_agent.environment.skills import install_skill


class SkillConfig(Config):
    """What to do with the skill."""

    action: tyro.conf.Positional[Literal["install"]]
    """The one thing there is to do: install."""
    folder: tyro.conf.Positional[Path]
    """The folder of skills: .claude/skills in a project, ~/.claude/skills, ~/.agents/skills ..."""


def run_skill(config: SkillConfig) -> int:
    """Install the skill under its own name and say where."""
    print(f"installed: {install_skill(config.folder.expanduser())}")
    return ExitCode.DONE
