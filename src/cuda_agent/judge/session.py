"""One submission facing one task: the two children, the mailboxes between them, and who sees what when."""

import itertools
import math
import secrets
import time
from dataclasses import dataclass
from typing import Literal, TypeVar

import torch

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.mailbox import DeviceMailbox, HostMailbox, view_tensors
from cuda_agent.judge.process import ChildError, ChildProcess, OwnMailbox
from cuda_agent.judge.protocol import (
    Call,
    Collect,
    Compile,
    Construct,
    Contestant,
    DrawInputs,
    DrawWeights,
    Drop,
    Expect,
    Mute,
    Perturb,
    Publish,
    Refresh,
    Request,
    SetWeights,
    Stage,
    Wake,
)
from cuda_agent.judge.replies import Called, Described, Done, Expected, Reply
from cuda_agent.judge.tree import Node, NodeKind, compute_offsets
from cuda_agent.judge.turns import Turns
from cuda_agent.tasks.target import Target

R = TypeVar("R", bound=Reply)
Box = Literal["inbox", "reference", "candidate"]
"""The inbox is lent to both children; the other two are one child's outbox."""

_SEED_BITS = 62
_BOX_ROUNDING_BYTES = 1 << 20
_REFERENCE_TIMEOUT_S = 300.0
_REST_S = 0.02
_REST_TRIES = 25
_REST_SHARE = 0.1


class CandidateError(ChildError):
    """The submission's process failed."""


class TaskProcessError(ChildError):
    """The reference process failed: not the submission's fault."""


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What the reference makes of one set of inputs: in its outbox until the next ones come."""

    exact: list[torch.Tensor]
    """Values in float64 (as eager gives them where float64 does not work)."""
    eager: list[torch.Tensor]
    """Values as the reference gives them."""
    free: list[torch.Tensor] | list[None]
    """Which whole numbers are a choice among equals; None where none is."""
    node: Node
    """The form that a submission must match."""
    input_elements: int
    """Elements in inputs and weights together."""
    longest_axis: int
    """The longest axis of any input or weight."""
    inputs_changed: bool
    """Whether the reference writes to its own inputs."""


def draw_seeds(count: int) -> list[int]:
    """Secret seeds for `Session.refresh`, none of which stands for the drawn values themselves."""
    return [secrets.randbits(_SEED_BITS) | 1 for _ in range(count)]


class Session:
    """A runner and a reference process, joined by mailboxes.

    The inbox is written by the reference process and read by the runner; each has an outbox that the
    judge alone shares with it. Seeds are drawn here, after the submission has been loaded.
    """

    def __init__(
        self,
        reference: ChildProcess,
        runner: ChildProcess,
        *,
        target: Target,
        threads_before: int,
        takes_turns: bool,
    ) -> None:
        """Join two prepared children.

        Args:
            reference: the task's own process.
            runner: the submission's.
            target: where tensors live.
            threads_before: the runner's threads before it was loaded.
            takes_turns: whether the one that is not asked stands still.
        """
        self.eager_ms = 0.0
        self.inputs = Node(kind=NodeKind.LIST)
        self.outputs = Node(kind=NodeKind.LIST)
        self.state = Node(kind=NodeKind.DICT)
        self._reference = reference
        self._runner = runner
        self._threads_before = threads_before
        self._turns = Turns(reference, runner, enforced=takes_turns)
        self.target = target
        self._boxes: dict[str, OwnMailbox] = {}

    def construct(self, arguments: Node) -> None:
        """Build ModelNew, and the reference's model with fresh secret weights, and share those."""
        self._ensure("inbox", compute_offsets(arguments.list_tensors())[1])
        self._ask_reference(Publish(what="arguments"), Done)
        self._ask_runner(Construct(arguments=arguments), Done, timeout_s=120)

    def draw_weights(self) -> None:
        """Give both sides the same fresh secret weights."""
        self.state = self._ask_reference(DrawWeights(seed=secrets.randbits(_SEED_BITS)), Described).node
        self._ensure("inbox", compute_offsets(self.state.list_tensors())[1])
        self._ask_reference(Publish(what="weights"), Done)
        self._ask_runner(SetWeights(state=self.state), Done, timeout_s=120)

    def draw_inputs(self, variant: int) -> None:
        """Let the reference process draw fresh secret inputs."""
        drawn = self._ask_reference(DrawInputs(seed=secrets.randbits(_SEED_BITS), variant=variant), Described)
        self.inputs = drawn.node
        self._ensure("inbox", compute_offsets(self.inputs.list_tensors())[1])

    def refresh(self, seed: int) -> None:
        """Derive fresh values from the drawn inputs; the same seed gives the same values."""
        self._ask_reference(Refresh(seed=seed), Done)

    def expect(self) -> Outputs:
        """What the reference makes of the current inputs."""
        expected = self._ask_reference(Expect(), Expected)
        parts = [node.list_tensors() for node in (expected.exact, expected.eager, expected.free)]
        leaves = list(itertools.chain(*parts))
        self._ensure("reference", compute_offsets(leaves)[1])
        self._ask_reference(Publish(what="expected"), Done)
        tensors = iter(view_tensors(self._boxes["reference"], leaves))
        exact, eager, free = (list(itertools.islice(tensors, len(part))) for part in parts)
        self.eager_ms = expected.eager_ms
        sources = self.inputs.list_tensors() + self.state.list_tensors()
        self.outputs = expected.eager
        return Outputs(
            exact=exact,
            eager=eager,
            free=free or [None] * len(eager),
            node=expected.eager,
            input_elements=sum(math.prod(leaf.shape) for leaf in sources),
            longest_axis=max((max(leaf.shape, default=1) for leaf in sources), default=1),
            inputs_changed=expected.inputs_changed,
        )

    def stage(self, contestant: Contestant) -> None:
        """Copy the current inputs to fresh addresses on the contestant's side."""
        if contestant is Contestant.CANDIDATE:
            self.publish_inputs()
            self.stage_published(contestant)
        else:
            self._ask_reference(Stage(contestant=contestant), Done)

    def publish_inputs(self) -> None:
        """Let the reference process write the current inputs into the inbox."""
        self._ask_reference(Publish(what="inputs"), Done)

    def give_turn(self, contestant: Contestant) -> None:
        """Let the contestant's process run, and the other stand still, before a clock starts."""
        self._give_turn(self._runner if contestant is Contestant.CANDIDATE else self._reference)

    def stage_published(self, contestant: Contestant) -> None:
        """Copy what lies in the inbox to fresh addresses on the contestant's side."""
        request = Stage(contestant=contestant, inputs=self.inputs)
        if contestant is Contestant.CANDIDATE:
            self._ask_runner(request, Done, timeout_s=120)
        else:
            self._ask_reference(request, Done)

    def hand_over(self, contestant: Contestant, index: int) -> None:
        """Let the contestant write one kept output into its outbox, to see how long that takes."""
        request = Collect(contestant=contestant, index=index)
        if contestant is Contestant.CANDIDATE:
            self._ask_runner(request, Described, timeout_s=60)
        else:
            self._ask_reference(request, Described)

    def call(self, request: Call, *, calls: int) -> Called:
        """Call what is staged; the candidate has a generous multiple of eager's time."""
        if request.contestant is not Contestant.CANDIDATE:
            self._give_turn(self._reference, looks_again=True)
            return self._ask_reference(request, Called)
        return self._ask_runner(request, Called, timeout_s=15 + calls * self.eager_ms * 0.1)

    def wake(self, contestant: Contestant) -> None:
        """Have the contestant's process work a little on the device, so that it is awake."""
        if contestant is Contestant.CANDIDATE:
            self._ask_runner(Wake(), Done, timeout_s=30)
        else:
            self._ask_reference(Wake(), Done)

    def mute(self, on: bool) -> None:
        """Switch the submission's kernels off, or on again."""
        self._ask_runner(Mute(on=on), Done, timeout_s=30)

    def perturb(self, seed: int, *, swaps: bool = False) -> None:
        """Change one element of each floating input that was drawn, or let two change places.

        The same seed, the same elements.
        """
        self._ask_reference(Perturb(seed=seed, swaps=swaps), Done)

    def count_new_threads(self) -> int:
        """How many more threads the runner has than before it met the submission."""
        return self._runner.count_threads() - self._threads_before

    def is_at_rest(self) -> bool:
        """Whether the runner comes to rest when nothing is asked of it; threads may spin a little first."""
        self._give_turn(self._runner)
        worked_ns = self._runner.measure_work_ns()
        for _ in range(_REST_TRIES):
            time.sleep(_REST_S)
            before_ns, worked_ns = worked_ns, self._runner.measure_work_ns()
            if worked_ns - before_ns < _REST_SHARE * _REST_S * 1e9:
                return True
        return False

    def collect(self, index: int) -> tuple[Node, list[torch.Tensor]]:
        """Describe one of the candidate's outputs, with its outbox's tensors if its form is right.

        The submission may still write to them, so whoever compares reads each element once.
        """
        tensors = self.outputs.list_tensors()
        self._ensure("candidate", compute_offsets(tensors)[1])
        request = Collect(contestant=Contestant.CANDIDATE, index=index)
        node = self._ask_runner(request, Described, timeout_s=60).node
        if node.list_tensors() != tensors:
            return node, []
        return node, view_tensors(self._boxes["candidate"], tensors)

    def drop(self, contestant: Contestant) -> None:
        """Let the contestant forget inputs and outputs."""
        if contestant is Contestant.CANDIDATE:
            self._ask_runner(Drop(contestant=contestant), Done, timeout_s=60)
        else:
            self._ask_reference(Drop(contestant=contestant), Done)

    def compile(self) -> None:
        """Compile the reference for the current inputs."""
        self._ask_reference(Compile(), Done)

    def close(self) -> None:
        """Give the mailboxes back, and both children their freedom."""
        self._turns.end()
        for box in self._boxes.values():
            box.close()

    def _ensure(self, box: Box, nbytes: int) -> None:
        held = self._boxes.get(box)
        if held is not None:
            if held.memory.numel() >= nbytes:
                return
            held.close()
        make = DeviceMailbox if self.target is Target.CUDA else HostMailbox
        mailbox = make.create(-(-max(nbytes, 1) // _BOX_ROUNDING_BYTES) * _BOX_ROUNDING_BYTES)
        self._boxes[box] = mailbox
        if box in ("inbox", "reference"):
            self._lend(self._reference, box, mailbox=mailbox, blamed=TaskProcessError)
        if box in ("inbox", "candidate"):
            self._lend(self._runner, box, mailbox=mailbox, blamed=CandidateError)

    def _lend(self, child: ChildProcess, box: Box, *, mailbox: OwnMailbox, blamed: type[ChildError]) -> None:
        self._give_turn(child)
        try:
            child.lend("inbox" if box == "inbox" else "outbox", mailbox)
        except ChildError as error:
            raise blamed(error.how, error.reason, error.detail) from None

    def _give_turn(self, child: ChildProcess, *, looks_again: bool = False) -> None:
        try:
            self._turns.give(child, looks_again=looks_again)
        except ChildError as error:  # of the one that would not stand still
            blamed = CandidateError if child is self._reference else TaskProcessError
            raise blamed(error.how, error.reason, error.detail) from None

    def _ask_reference(self, request: Request, expected: type[R]) -> R:
        self._give_turn(self._reference)
        try:
            return self._reference.ask(request, expected, timeout_s=_REFERENCE_TIMEOUT_S)
        except ChildError as error:
            if error.lacks_room:
                raise InfrastructureError(f"no room for the reference's process: {error.reason}") from error
            raise TaskProcessError(error.how, error.reason, error.detail) from None

    def _ask_runner(self, request: Request, expected: type[R], *, timeout_s: float) -> R:
        self._give_turn(self._runner)
        try:
            return self._runner.ask(request, expected, timeout_s=timeout_s)
        except ChildError as error:
            raise CandidateError(error.how, error.reason, error.detail) from None
