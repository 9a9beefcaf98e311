"""What a client can do: plain functions, whose docstrings are what its model reads.

Every failure that the client can mend is a UserError; what the judge finds is text, as in a workspace.
"""

from collections import Counter
from collections.abc import Sequence

from cuda_agent.config import Record
from cuda_agent.environment.environment import INSPECT, STAGE_OF_VERB, SUBMIT
from cuda_agent.environment.inspection import Inspection
from cuda_agent.environment.skills import SKILL_FILE, read_skill_files
from cuda_agent.environment.submission import MAX_FILES
from cuda_agent.environment.workspace import READ_ONLY
from cuda_agent.errors import UserError
from cuda_agent.mcp.workspaces import OpenWorkspaces
from cuda_agent.tasks.source import parse_task
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

MAX_WRITTEN = 2 * MAX_FILES
"""How many files of its own a workspace may have: twice as many as can be handed in."""

VERBS = (*STAGE_OF_VERB, SUBMIT)
"""The tools that ask the judge."""


class TaskSummary(Record):
    """A task that can be opened."""

    name: str
    """What open_task takes: the task's name, or its id where several have that name."""
    about: str
    """The first line of its source's docstring, or of its source."""


class Opened(Record):
    """A task laid out."""

    workspace: str
    """The key that every other tool takes. Keep it to yourself."""
    target: Target
    """Where kernels run: cpu is C++ with OpenMP, cuda is CUDA C++."""
    files: tuple[str, ...]
    """What lies there: the reference in model.py, the skill, examples."""


class Tools:
    """The tools, on the workspaces that clients have open."""

    def __init__(self, tasks: Sequence[Task], workspaces: OpenWorkspaces) -> None:
        """`tasks` are those that list_tasks offers."""
        counts = Counter(task.name for task in tasks)
        self._tasks = {task.name if counts[task.name] == 1 else task.task_id: task for task in tasks}
        self._workspaces = workspaces
        self._skill = read_skill_files(workspaces.config.target)

    def list_tasks(self) -> list[TaskSummary]:
        """List the tasks that can be opened: PyTorch modules to be made faster with kernels of your own."""
        return [TaskSummary(name=name, about=_summarise(task)) for name, task in self._tasks.items()]

    def read_skill(self, path: str = SKILL_FILE) -> str:
        """Read how the work is done: SKILL.md first (layout, rules, workflow), then the files that it names.

        Where it says `cuda-agent verify` and the like, call the tool of that name.
        """
        if path not in self._skill:
            raise UserError(f"the skill has no file {path!r}; it has {', '.join(sorted(self._skill))}")
        return self._skill[path]

    def open_task(self, name: str) -> Opened:
        """Lay out a task in a workspace of your own and start a judge for it."""
        if name not in self._tasks:
            raise UserError(f"no task is called {name!r}; list_tasks names them")
        return self._open(self._tasks[name])

    def open_module(self, source: str, name: str = "module") -> Opened:
        """Lay out a module of your own as a task.

        source: a Python file with `Model` (a torch.nn.Module), `get_inputs()` and `get_init_inputs()`, the
        lists of arguments of forward and of the constructor.
        """
        return self._open(parse_task(source, name=name))

    def list_files(self, workspace: str) -> list[str]:
        """List the workspace's files."""
        with self._workspaces.use(workspace) as environment:
            return list(environment.workspace.list_files())

    def read_file(self, workspace: str, path: str) -> str:
        """Read one of the workspace's files, such as model.py, the reference."""
        with self._workspaces.use(workspace) as environment:
            return environment.workspace.read_text(path)

    def write_file(self, workspace: str, path: str, *, text: str) -> str:
        """Write model_new.py, or a source in kernels/; what was there is replaced. At most 1 MiB."""
        with self._workspaces.use(workspace) as environment:
            files = environment.workspace.list_files()
            own = [name for name in files if name.split("/")[0] not in READ_ONLY]
            if path not in files and len(own) >= MAX_WRITTEN:
                raise UserError(f"the workspace has {len(own)} files already: write into those")
            environment.workspace.write_text(path, text)
        return f"{path}: {len(text):,} characters written"

    def build(self, workspace: str) -> str:
        """Check the rules and compile what was written."""
        return self._ask("build", workspace)

    def verify(self, workspace: str) -> str:
        """Build, then compare with the reference on inputs and weights that nobody has seen."""
        return self._ask("verify", workspace)

    def profile(self, workspace: str) -> str:
        """Verify, then time against the reference under eager and torch.compile. Takes some ten seconds."""
        return self._ask("profile", workspace)

    def submit(self, workspace: str) -> str:
        """Hand in what was written: all stages with new inputs; this counts, and can be done again."""
        return self._ask(SUBMIT, workspace)

    def inspect(self, workspace: str, what: Inspection) -> str:
        """Look at what was built: how it was compiled, and what the machine counts.

        what: on cpu vectors, assembly, counters; on cuda registers, assembly, memory, kernels. The whole
        report is then in the workspace, in inspections/.
        """
        return self._ask(f"{INSPECT}{what.value}", workspace)

    def close_task(self, workspace: str) -> str:
        """Close a workspace that is done with, so that another task can be opened."""
        with self._workspaces.use(workspace) as environment:
            submitted = len(environment.submissions)
        self._workspaces.close(workspace)
        return f"closed; submissions kept: {submitted}"

    def _open(self, task: Task) -> Opened:
        key = self._workspaces.open(task)
        with self._workspaces.use(key) as environment:
            files = environment.workspace.list_files()
        return Opened(workspace=key, target=self._workspaces.config.target, files=files)

    def _ask(self, verb: str, key: str) -> str:
        with self._workspaces.use(key) as environment:
            return environment.answer(verb).text


def _summarise(task: Task) -> str:
    lines = (line.strip().strip('"').strip("'") for line in task.source.splitlines())
    return next((line for line in lines if line), "")[:200]
