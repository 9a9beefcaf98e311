"""Every request of the judge to one of its children; replies.py has the answers."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from cuda_agent.config import Record
from cuda_agent.judge.policy import JudgePolicy, Precision
from cuda_agent.judge.tree import Node
from cuda_agent.tasks.target import Target


class Contestant(StrEnum):
    """Whose forward is called."""

    CANDIDATE = "candidate"
    """The submission's ModelNew, in the runner."""
    EAGER = "eager"
    """The reference as it stands, in the reference process."""
    COMPILED = "compiled"
    """The reference under torch.compile, in the reference process."""


class CallMode(StrEnum):
    """How the staged calls are made."""

    CHECK = "check"
    """One after another, looking whether an input was written to."""
    TIMED = "timed"
    """Each by itself, after a flush of the caches, with its own time."""
    BATCH = "batch"
    """Back to back, for the judge's own clock."""


class Prepare(Record):
    """Make the process ready before anything untrusted is loaded."""

    kind: Literal["prepare"] = "prepare"
    """Which request."""
    target: Target
    """Where tensors live."""
    precision: Precision
    """What float32 matrix products may do inside."""
    threads: int
    """Host threads to use."""


class Attach(Record):
    """Open a mailbox. On the cpu target its file descriptor comes with the message."""

    kind: Literal["attach"] = "attach"
    """Which request."""
    box: Literal["inbox", "outbox"]
    """Which of the two."""
    nbytes: int
    """Its size."""
    handle: str = ""
    """CUDA IPC handle in hexadecimal; empty on the cpu target."""


class Load(Record):
    """Runner: import the submission."""

    kind: Literal["load"] = "load"
    """Which request."""
    folder: str
    """Holds model_new.py."""
    library: str | None
    """The built kernels, as `import kernels`."""


class Construct(Record):
    """Runner: call ModelNew with the reference's constructor arguments, whose tensors lie in the inbox."""

    kind: Literal["construct"] = "construct"
    """Which request."""
    arguments: Node
    """A list is positional, a dict is by keyword."""


class SetWeights(Record):
    """Runner: load the state that lies in the inbox, by name."""

    kind: Literal["set_weights"] = "set_weights"
    """Which request."""
    state: Node
    """A dict of tensors."""


class OpenTask(Record):
    """Reference: run the task's program and measure what it needs."""

    kind: Literal["open_task"] = "open_task"
    """Which request."""
    source: str
    """The task's Python source."""
    memory_bytes: int
    """How much the task may need."""


class CheckTask(Record):
    """Reference: put the task before the gate."""

    kind: Literal["check_task"] = "check_task"
    """Which request."""
    policy: JudgePolicy
    """How strictly submissions will be judged."""


class DrawWeights(Record):
    """Reference: build the model anew from a seed, randomise its state, describe it."""

    kind: Literal["draw_weights"] = "draw_weights"
    """Which request."""
    seed: int
    """Secret seed."""


class DrawInputs(Record):
    """Reference: make inputs from a seed and describe them."""

    kind: Literal["draw_inputs"] = "draw_inputs"
    """Which request."""
    seed: int
    """Secret seed."""
    variant: int
    """Which distribution (see inputs.py)."""


class Publish(Record):
    """Reference: write something it has described into a mailbox."""

    kind: Literal["publish"] = "publish"
    """Which request."""
    what: Literal["arguments", "weights", "inputs", "expected"]
    """Which: expected outputs go into the outbox, everything else into the inbox."""


class Mute(Record):
    """Runner: switch the submission's kernels off, or on again."""

    kind: Literal["mute"] = "mute"
    """Which request."""
    on: bool
    """Whether they do nothing."""


class Perturb(Record):
    """Reference: change one element of each floating input, or let two change places."""

    kind: Literal["perturb"] = "perturb"
    """Which request."""
    seed: int
    """Secret seed."""
    swaps: bool = False
    """Whether two elements change places, which no sum over all of them shows."""


class Refresh(Record):
    """Reference: derive fresh values from the drawn inputs."""

    kind: Literal["refresh"] = "refresh"
    """Which request."""
    seed: int
    """Secret seed; 0 stands for the drawn inputs themselves."""


class Expect(Record):
    """Reference: compute the outputs for the current inputs, exactly and as eager does."""

    kind: Literal["expect"] = "expect"
    """Which request."""


class Warm(Record):
    """Reference: draw what no submission will meet, and see what the reference does with it."""

    kind: Literal["warm"] = "warm"
    """Which request."""


class Precompile(Record):
    """Reference: build what `Compile` will need, without touching the device."""

    kind: Literal["precompile"] = "precompile"
    """Which request."""


class CompileMode(StrEnum):
    """torch.compile's modes."""

    DEFAULT = "default"
    """What it does unless told otherwise: the baseline of every submission."""
    REDUCE_OVERHEAD = "reduce-overhead"
    """With CUDA graphs."""
    MAX_AUTOTUNE = "max-autotune"
    """With CUDA graphs, and templates that are tried out."""
    MAX_AUTOTUNE_NO_CUDAGRAPHS = "max-autotune-no-cudagraphs"
    """With templates that are tried out."""


class Compile(Record):
    """Reference: compile the model for the current inputs."""

    kind: Literal["compile"] = "compile"
    """Which request."""
    mode: CompileMode = CompileMode.DEFAULT
    """In which of torch.compile's modes."""


class Stage(Record):
    """Copy inputs into fresh private tensors: those that lie in the inbox, or the reference's own."""

    kind: Literal["stage"] = "stage"
    """Which request."""
    contestant: Contestant
    """Whose."""
    inputs: Node | None = None
    """What lies in the inbox; None stands for the current inputs of the reference process itself."""


class Call(Record):
    """Call forward once on each staged set of inputs, keeping the outputs."""

    kind: Literal["call"] = "call"
    """Which request."""
    contestant: Contestant
    """Whose."""
    mode: CallMode
    """How."""
    guarded: bool = False
    """Whether to refuse torch operators that compute."""
    poisoned: bool = False
    """Whether to fill fresh memory with NaN."""


class Collect(Record):
    """Describe one kept output, and write it into the outbox if it fits."""

    kind: Literal["collect"] = "collect"
    """Which request."""
    contestant: Contestant
    """Whose."""
    index: int
    """Which of the kept outputs."""


class Wake(Record):
    """Do a little work on the device, so that what follows finds it awake and switched to this process."""

    kind: Literal["wake"] = "wake"
    """Which request."""


class Drop(Record):
    """Forget staged inputs and kept outputs."""

    kind: Literal["drop"] = "drop"
    """Which request."""
    contestant: Contestant
    """Whose."""


Request = Annotated[
    Prepare | Attach | Load | Construct | SetWeights | OpenTask | CheckTask | DrawWeights | DrawInputs
    | Publish | Mute | Perturb | Warm | Refresh | Expect | Precompile | Compile | Stage
    | Call | Collect | Drop | Wake,
    Field(discriminator="kind"),
]  # fmt: skip

REQUEST: TypeAdapter[Request] = TypeAdapter(Request)
"""Parses any request."""
