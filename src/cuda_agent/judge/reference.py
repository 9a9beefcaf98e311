"""The reference process: the task's own program, its seeds, and both baselines.

It never meets a submission. A task may be written by anyone, so this too runs in the sandbox, and the
judge takes from it only bytes and times. Run as `python -m cuda_agent.judge.reference`.
"""

import copy
import functools
import gc
import importlib.util
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from cuda_agent.judge.child import Child, Handler, connect
from cuda_agent.judge.compiling import compile_model, precompile
from cuda_agent.judge.contestant import Lane, have_same_bytes
from cuda_agent.judge.device import measure_copy_bandwidth
from cuda_agent.judge.footprint import estimate_bytes
from cuda_agent.judge.gatekeeper import Gatekeeper
from cuda_agent.judge.inputs import (
    PARTING,
    ROUNDINGS,
    VARIANTS,
    is_measured,
    is_whole,
    jitter_value,
    measure_choices,
    perturb_values,
    randomise_state,
    refresh_values,
    reshape_distribution,
    swap_values,
)
from cuda_agent.judge.mailbox import write_tensors
from cuda_agent.judge.protocol import (
    Call,
    CheckTask,
    Collect,
    Compile,
    Contestant,
    DrawInputs,
    DrawWeights,
    Drop,
    Expect,
    OpenTask,
    Perturb,
    Precompile,
    Publish,
    Refresh,
    Stage,
    Warm,
)
from cuda_agent.judge.rehearsal import rehearse
from cuda_agent.judge.replies import Called, Described, Done, Expected, TaskChecked, TaskOpened
from cuda_agent.judge.result import TaskResult
from cuda_agent.judge.tree import build_value, describe_value, map_tensors

_RARE = 1e-3
"""Share of whole numbers that inputs a few roundings away may change in a task without ties."""
_PAIRS = 4
_MOST = 0.1
"""Share up to which such whole numbers are taken for choices, once ties are parted."""


class Reference:
    """One task, opened once."""

    def __init__(self, child: Child) -> None:
        """Nothing is opened yet."""
        self._child = child
        self._program: ModuleType | None = None
        self._arguments: Any = None
        self._fits = False
        self._writes_inputs = False
        self._has_ties = False
        self._keeps_ties = True
        self._model: Any = None
        self._exact_model: Any = None
        self._drawn: Any = None
        self._current: Any = None
        self._expected: Any = None
        self._is_precompiled = False
        self._compile_error: Exception | None = None
        self._lanes: dict[Contestant, Lane] = {}

    def list_handlers(self) -> dict[str, Handler]:
        """Which method answers which request."""
        return {
            "open_task": self.open_task,
            "check_task": self.check_task,
            "draw_weights": self.draw_weights,
            "draw_inputs": self.draw_inputs,
            "publish": self.publish,
            "refresh": self.refresh,
            "perturb": self.perturb,
            "expect": self.expect,
            "warm": self.warm,
            "precompile": self.precompile,
            "compile": self.compile,
            "stage": self.stage,
            "call": self.call,
            "collect": self.collect,
            "drop": self.drop,
        }

    def open_task(self, request: OpenTask) -> TaskOpened:
        """Import the task's program, after an estimate that allocates nothing."""
        self._program = import_source(request.source)
        needed = estimate_bytes(self._program)
        self._fits = needed <= request.memory_bytes
        self._arguments = self._on_device(self._program.get_init_inputs()) if self._fits else []
        return TaskOpened(
            needed_bytes=needed,
            arguments=describe_value(self._arguments)[0],
            copy_gb_per_s=measure_copy_bandwidth(self._device),
        )

    def check_task(self, request: CheckTask) -> TaskChecked:
        """Whether the task is worth judging, by weights and inputs that no submission will meet."""
        if not self._fits:
            return TaskChecked(result=TaskResult())
        self.draw_weights(DrawWeights(seed=0))
        keeper = Gatekeeper(self._model, self._make_inputs, device=self._device, policy=request.policy)
        return TaskChecked(result=keeper.run())

    def draw_weights(self, request: DrawWeights) -> Described:
        """Fresh weights from a seed, with what is constant in them randomised.

        They are copied into the one model that the baselines use, which so stays compiled.
        """
        torch.manual_seed(request.seed)
        arguments = self._arguments
        device = self._device.torch_device
        with torch.no_grad(), torch.device(device):
            make = self._get_program().Model
            fresh = make(**arguments) if isinstance(arguments, dict) else make(*arguments)
            fresh = fresh.to(device).eval()
            randomise_state(fresh.state_dict())
            if self._model is None:
                self._model = fresh
                self._lanes[Contestant.EAGER] = Lane(fresh, self._device)
            else:
                self._model.load_state_dict(fresh.state_dict())
        self._exact_model = None
        return Described(node=describe_value(self._get_state())[0])

    def draw_inputs(self, request: DrawInputs) -> Described:
        """Make inputs from a seed, in the asked-for distribution where the reference bears it."""
        torch.manual_seed(request.seed)
        self._keeps_ties = request.variant == 0
        natural = self._draw()
        self._drawn = natural
        if request.variant % VARIANTS > 1:
            self._drawn = map_tensors(
                natural, lambda value: reshape_distribution(value, request.variant % VARIANTS)
            )
            if not self._is_finite(self._drawn) and self._is_finite(natural):
                self._drawn = natural
        self._current = self._drawn
        return Described(node=describe_value(self._drawn)[0])

    def refresh(self, request: Refresh) -> Done:
        """Fresh values from the drawn ones."""
        node, tensors = describe_value(self._drawn)
        if not request.seed:
            self._current = self._drawn
        elif any(is_whole(tensor) for tensor in tensors):
            torch.manual_seed(request.seed)
            self._current = self._draw()
        else:
            self._current = build_value(node, refresh_values(tensors, request.seed))
        return Done()

    def perturb(self, request: Perturb) -> Done:
        """One element of each floating input changed, or two that have changed places."""
        node, tensors = describe_value(self._drawn)
        change = swap_values if request.swaps else perturb_values
        self._current = build_value(node, change(tensors, request.seed))
        return Done()

    def publish(self, request: Publish) -> Done:
        """Write what was described into its mailbox."""
        values = {
            "arguments": self._arguments,
            "weights": self._get_state(),
            "inputs": self._current,
            "expected": self._expected,
        }
        node, tensors = describe_value(values[request.what])
        box = self._child.outbox if request.what == "expected" else self._child.inbox
        write_tensors(box, node.list_tensors(), tensors=tensors)
        self._device.synchronize()
        return Done()

    def expect(self, request: Expect) -> Expected:
        """Compute the exact outputs and eager's for the current inputs."""
        with torch.no_grad():
            self._device.synchronize()
            start = time.perf_counter()
            eager = self._run_eager()
            self._device.synchronize()
            eager_ms = (time.perf_counter() - start) * 1e3
            exact = self._compute_exact()
            free = self._find_free(eager)
        if not any(leaf.numel() for leaf in describe_value(eager)[1]):
            raise ValueError("forward returns no element that could be compared")
        self._expected = [exact, eager, free]
        exact_node, eager_node, free_node = describe_value(self._expected, path="out")[0].children
        return Expected(
            exact=exact_node,
            eager=eager_node,
            free=free_node,
            inputs_changed=self._writes_inputs,
            eager_ms=eager_ms,
        )

    def warm(self, request: Warm) -> Done:
        """Draw inputs that no submission will meet, and look what the reference does with them."""
        if not self._fits:
            return Done()
        self.draw_inputs(DrawInputs(seed=0, variant=0))
        inputs = self._copy_inputs(torch.clone)
        with torch.no_grad():
            self._model(*inputs)
        before, now = (describe_value(value)[1] for value in (self._current, inputs))
        self._writes_inputs = not all(have_same_bytes(a, b) for a, b in zip(before, now, strict=True))
        with torch.no_grad():
            eager = describe_value(self._run_eager())[1]
            self._has_ties = measure_choices(eager, self._find_choices(eager)) > _RARE
        return Done()

    def precompile(self, request: Precompile) -> Done:
        """Build what `compile` will need, as far as that goes without the device."""
        if self._fits and not self._is_precompiled and Contestant.COMPILED not in self._lanes:
            self._is_precompiled = True
            precompile(self._model, self._copy_inputs(torch.clone))
        return Done()

    def compile(self, request: Compile) -> Done:
        """Compile with torch.compile and run it once; later calls get the same outcome, whatever the mode."""
        if self._compile_error is not None:
            raise self._compile_error
        if Contestant.COMPILED not in self._lanes:
            try:
                compiled = compile_model(self._model, self._copy_inputs(torch.clone), mode=request.mode)
            except Exception as error:
                self._compile_error = error
                raise
            self._device.synchronize()
            gc.collect()
            gc.freeze()
            self._lanes[Contestant.COMPILED] = Lane(compiled, self._device)
        return Done()

    def stage(self, request: Stage) -> Done:
        """Copy the current inputs, or what lies in the inbox, to fresh addresses."""
        lane = self._lanes[request.contestant]
        if request.inputs is None:
            lane.stage_value(self._current)
        else:
            lane.stage(self._child.inbox, request.inputs)
        return Done()

    def call(self, request: Call) -> Called:
        """Call a baseline on what is staged."""
        return self._lanes[request.contestant].call(request)

    def collect(self, request: Collect) -> Described:
        """Write a baseline's output into the outbox."""
        return Described(node=self._lanes[request.contestant].collect(self._child.outbox, request.index))

    def drop(self, request: Drop) -> Done:
        """Forget a baseline's inputs and outputs."""
        self._lanes[request.contestant].drop()
        return Done()

    @property
    def _device(self) -> Any:  # noqa: ANN401
        assert self._child.device is not None, "prepare comes first"
        return self._child.device

    def _get_program(self) -> Any:  # noqa: ANN401
        assert self._program is not None, "open_task comes first"
        return self._program

    def _get_state(self) -> dict[str, torch.Tensor]:
        return (
            {name: value.detach() for name, value in self._model.state_dict().items()} if self._model else {}
        )

    def _make_inputs(self) -> Any:  # noqa: ANN401
        state = torch.get_rng_state()
        try:
            with torch.device(self._device.torch_device):
                made = self._get_program().get_inputs()
        except (RuntimeError, TypeError, ValueError):
            # Some programs mix devices by hand; they are run as written and moved afterwards.
            torch.set_rng_state(state)
            made = self._get_program().get_inputs()
        return self._on_device(made)

    def _on_device(self, value: object) -> Any:  # noqa: ANN401
        device = self._device.torch_device
        return map_tensors(value, lambda tensor: tensor.detach().to(device).contiguous())

    def _compute_exact(self) -> object:
        def widen(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.double() if tensor.is_floating_point() else tensor.clone()

        try:
            if self._exact_model is None:
                self._exact_model = copy.deepcopy(self._model).double()
            return self._exact_model(*self._copy_inputs(widen))
        except (RuntimeError, NotImplementedError, TypeError):
            # No float64 form of some operator, or no room for it.
            return self._model(*self._copy_inputs(torch.clone))

    def _run_eager(self) -> Any:  # noqa: ANN401
        """What the reference gives for the current inputs, which stay as they are."""
        if self._writes_inputs:
            return self._model(*self._copy_inputs(torch.clone))
        leaves = describe_value(self._current)[1]
        versions = [leaf._version for leaf in leaves]
        outputs = self._model(*self._current)
        if [leaf._version for leaf in leaves] != versions:
            raise RuntimeError("the reference writes to its inputs, but only for some of their values")
        return outputs

    def _draw(self) -> Any:  # noqa: ANN401
        """Fresh inputs; where answers hang on ties, those are parted, but for the first draw of all."""
        made = self._make_inputs()
        parts = self._has_ties and not self._keeps_ties
        return map_tensors(made, lambda value: jitter_value(value, PARTING)) if parts else made

    def _find_free(self, eager: Any) -> list[torch.Tensor]:  # noqa: ANN401
        """Which whole numbers in these outputs are a choice among equals; empty where none is."""
        leaves = describe_value(eager)[1]
        floating = any(leaf.is_floating_point() for leaf in describe_value(self._current)[1])
        if not floating or all(is_measured(leaf) for leaf in leaves):
            return []
        free = self._find_choices(leaves)
        share = measure_choices(leaves, free)
        # Whole numbers that all follow the last bit of their inputs are not choices.
        return free if 0.0 < share <= _MOST or (self._has_ties and self._keeps_ties) else []

    def _find_choices(self, eager: list[torch.Tensor]) -> list[torch.Tensor]:
        """Which elements change when inputs move by a few roundings, one way or just the other way."""
        free = [torch.zeros_like(leaf, dtype=torch.bool) for leaf in eager]
        for seed in torch.randint(1 << 62, (_PAIRS,)).tolist():
            for share in (ROUNDINGS, -ROUNDINGS):
                torch.manual_seed(seed)
                moved = self._copy_inputs(functools.partial(jitter_value, share=share))
                again = describe_value(self._model(*moved))[1]
                if [leaf.shape for leaf in again] == [leaf.shape for leaf in eager]:
                    free = [flag | (a != b) for flag, a, b in zip(free, eager, again, strict=True)]
        return free

    def _copy_inputs(self, copy_tensor: Callable[[torch.Tensor], torch.Tensor]) -> Any:  # noqa: ANN401
        return map_tensors(self._current, copy_tensor)

    def _is_finite(self, inputs: Any) -> bool:  # noqa: ANN401
        with torch.no_grad():
            self._current = inputs
            outputs = describe_value(self._run_eager())[1]
        bounds = [torch.stack(out.aminmax()) for out in outputs if out.is_floating_point() and out.numel()]
        return all(bool(torch.isfinite(bound).all()) for bound in bounds)


def import_source(source: str) -> ModuleType:
    """Run a task's source as the module `model`, from a file, so that tracebacks show its lines."""
    folder = Path(tempfile.mkdtemp(prefix="task-", dir=os.environ.get("TMPDIR")))
    path = folder / "model.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("model", path)
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def main() -> None:
    """Answer the judge until it hangs up."""
    child = Child(connect(), rehearse=rehearse)
    child.serve(Reference(child).list_handlers())


if __name__ == "__main__":
    main()
