"""The process that runs candidates, in a sandbox: one after another, as the probe asks.

Run as `python -m cuda_agent.synthesis.examine TARGET THREADS`. What it says about a program is that program's
own claim, for they share a process: enough to choose tasks by, and no verdict on anybody's kernel.
"""

import contextlib
import gc
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.backends.registry import lookup_backend
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_leaves
from torch.utils.hooks import RemovableHandle

from cuda_agent.judge.child import connect
from cuda_agent.judge.device import Device, open_device
from cuda_agent.judge.gate import measure_gate
from cuda_agent.judge.inputs import randomise_state
from cuda_agent.judge.policy import Precision
from cuda_agent.judge.reference import import_source
from cuda_agent.judge.tree import describe_value, map_tensors
from cuda_agent.judge.wire import PeerGoneError
from cuda_agent.synthesis.questions import (
    QUESTION,
    Answer,
    Compare,
    Compared,
    Compile,
    Done,
    Examine,
    Examined,
    Failed,
    Measure,
    Question,
    Timed,
    Warm,
)
from cuda_agent.tasks.target import Target

_WARM_CALLS = 1
_CALLS = 5
_ENOUGH_S = 2.0
_RELATIVE, _ABSOLUTE = 1e-2, 1e-3
"""How far a compiled result may be from eager's, at least: shares of the value, and of the largest value."""
_MOVING = {
    "contiguous", "to", "view", "reshape", "expand", "flatten", "detach", "permute", "transpose", "squeeze",
    "unsqueeze", "clone", "float", "type_as", "__get__", "__getitem__", "size", "dim",
}  # fmt: skip
"""Calls that are not there to change values."""


class _NotYetError(Exception):
    """A compiled graph was reached that may not run yet."""


class Examiner:
    """One program at a time."""

    def __init__(self, device: Device) -> None:
        """Nothing is examined yet."""
        self._device = device
        self._model: Any = None
        self._compiled: Any = None
        self._inputs: list[Any] = []
        self._may_run = False
        self._own_bytes = 0

    def answer(self, question: Question) -> Answer:
        """Do what is asked; a program's failure is an answer too."""
        try:
            with torch.no_grad():
                match question:
                    case Warm():
                        return self._warm(compiles=question.compiles)
                    case Examine():
                        return self._examine(question)
                    case Measure():
                        return self._measure(self._compiled if question.is_compiled else self._model)
                    case Compile():
                        return self._compile()
                    case Compare():
                        return self._compare()
        except Exception as error:  # a process boundary (see errors.py)
            lines = str(error).strip().splitlines() or ["no message"]
            reason = f"{type(error).__name__}: {lines[0][:300]}"
            return Failed(reason=reason, is_device_lost=self._is_device_lost())

    def _warm(self, *, compiles: bool) -> Done:
        """Pay once for what every candidate needs: torch.compile's modules, compiler and headers."""
        if compiles:
            torch.compile(torch.tanh)(torch.ones(256, 256, device=self._device.torch_device))
            self._forget()
        gc.collect()
        gc.freeze()  # what is there now stays: no collection between candidates need look at it
        return Done()

    def _examine(self, question: Examine) -> Examined:
        self._forget()
        program = import_source(question.code)
        self._model, self._inputs = self._build(program, seed=question.seed)
        states = self._read_random_states()
        outputs = describe_value(self._model(*self._inputs))[1]
        memory_bytes = self._count_memory(outputs)
        draws_random = not all(map(torch.equal, states, self._read_random_states()))
        is_deterministic = self._gives_again(outputs, program, seed=question.seed)
        del outputs  # a device has only so much memory, and others use it too
        fresh = self._build(program, seed=question.seed + 1)[1]
        return Examined(
            device=self._device.name,
            memory_bytes=memory_bytes,
            draws_random=draws_random,
            is_deterministic=is_deterministic,
            gate=measure_gate(self._model, self._inputs, fresh=fresh),
            redundant=find_redundant(self._model, self._inputs),
        )

    def _measure(self, model: Any) -> Timed:  # noqa: ANN401
        times_ms: list[float] = []
        start_s = time.monotonic()
        for call in range(_WARM_CALLS + _CALLS):
            elapsed_ms = self._time_call(model)
            if call >= _WARM_CALLS or time.monotonic() - start_s > _ENOUGH_S:
                times_ms.append(elapsed_ms)
            if time.monotonic() - start_s > _ENOUGH_S:
                break
        return Timed(median_ms=statistics.median(times_ms))

    def _time_call(self, model: Any) -> float:  # noqa: ANN401
        """On cpu at most the time for which it had a core: other work must not choose the tasks."""
        if self._device.torch_device.type == "cuda":
            return self._device.time_call(lambda: model(*self._inputs))[1]
        busy_ms, elapsed_ms = self._device.time_call(lambda: _measure_busy_ms(lambda: model(*self._inputs)))
        assert isinstance(busy_ms, float)
        return min(busy_ms, elapsed_ms)

    def _gives_again(self, outputs: list[torch.Tensor], program: Any, *, seed: int) -> bool:  # noqa: ANN401
        """Whether the same inputs give the same bits, in this instance and in another."""
        if not _are_same(outputs, describe_value(self._model(*self._inputs))[1]):
            return False
        other, inputs = self._build(program, seed=seed)
        return _are_same(outputs, describe_value(other(*inputs))[1])

    def _compile(self) -> Done:
        """Compile up to where the first graph would run: whoever is timed meanwhile is not disturbed."""
        inductor = lookup_backend("inductor")

        def build(graph: Any, inputs: Any) -> Callable[..., Any]:  # noqa: ANN401
            compiled: Any = inductor(graph, inputs)

            def run(*arguments: Any) -> Any:  # noqa: ANN401
                if not self._may_run:
                    raise _NotYetError
                return compiled(*arguments)

            return run

        self._compiled = torch.compile(self._model, backend=build)
        with contextlib.suppress(_NotYetError):
            self._compiled(*self._inputs)
        return Done()

    def _compare(self) -> Compared:
        self._may_run = True
        eager, compiled = (describe_value(model(*self._inputs))[1] for model in (self._model, self._compiled))
        if [out.shape for out in eager] != [out.shape for out in compiled]:
            return Compared(differing_share=1.0)
        return Compared(differing_share=max(map(_compare, eager, compiled), default=1.0))

    def _build(self, program: Any, *, seed: int) -> tuple[torch.nn.Module, list[Any]]:  # noqa: ANN401
        device = self._device.torch_device
        torch.manual_seed(seed)
        with torch.device(device):
            arguments = program.get_init_inputs()
            model = program.Model(**arguments) if isinstance(arguments, dict) else program.Model(*arguments)
            inputs: Any = program.get_inputs()
        moved: Any = map_tensors(list(inputs), _move_to(device))
        return model.to(device).eval(), moved

    def _read_random_states(self) -> list[torch.Tensor]:
        states = [torch.get_rng_state()]
        return [*states, torch.cuda.get_rng_state()] if self._device.torch_device.type == "cuda" else states

    def _count_memory(self, outputs: list[torch.Tensor]) -> int:
        if self._device.torch_device.type == "cuda":
            return int(torch.cuda.max_memory_allocated()) - self._own_bytes
        held = [*tree_leaves(self._inputs), *self._model.state_dict().values(), *outputs]
        return sum(value.numel() * value.itemsize for value in held if isinstance(value, torch.Tensor))

    def _forget(self) -> None:
        self._model = self._compiled = None
        self._inputs = []
        self._may_run = False
        torch.compiler.reset()
        gc.collect()
        if self._device.torch_device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            self._own_bytes = int(torch.cuda.memory_allocated())

    def _is_device_lost(self) -> bool:
        try:
            self._device.synchronize()
        except RuntimeError:
            return True
        return False


def _measure_busy_ms(call: Callable[[], object]) -> float:
    """How long a call kept a core: its own thread's time, or all threads' share where others did more."""
    start_s = time.thread_time(), time.process_time()
    call()
    own_s, all_s = time.thread_time() - start_s[0], time.process_time() - start_s[1]
    return 1e3 * max(own_s, all_s / torch.get_num_threads())


def find_redundant(model: torch.nn.Module, inputs: list[Any]) -> str:
    """An operator whose result is what it was given, for these inputs: a second relu, say.

    Looked at are the calls that the program itself makes, layers among them; what a library's layer does
    within itself is its own affair. Constant weights are replaced by random ones first, and put back.
    """
    state = {name: value.clone() for name, value in model.state_dict().items()}
    watch = _Watch()
    hooks = [hook for module in model.modules() if _is_foreign(module) for hook in watch.hook(module)]
    try:
        randomise_state(model.state_dict())
        with watch:
            model(*inputs)
    finally:
        model.load_state_dict(state)
        for hook in hooks:
            hook.remove()
    return watch.found


class _Watch(TorchFunctionMode):
    """Looks at every call that the program makes, but not at what a library does within it."""

    def __init__(self) -> None:
        super().__init__()
        self.found = ""
        self._depth = 0

    def hook(self, module: torch.nn.Module) -> list[RemovableHandle]:
        """Look at a library's layer from outside."""
        return [
            module.register_forward_pre_hook(lambda *_: self._enter()),
            module.register_forward_hook(lambda *call: self._leave(call)),
        ]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if not self._depth and name not in _MOVING:
            self._look(resolve_name(func) or name, (args, kwargs), result=result)
        return result

    def _enter(self) -> None:
        self._depth += 1

    def _leave(self, call: tuple[Any, Any, Any]) -> None:
        module, given, result = call
        self._depth -= 1
        if not self._depth:
            self._look(type(module).__name__, given, result=result)

    def _look(self, name: str, given: Any, *, result: Any) -> None:  # noqa: ANN401
        if not self.found and isinstance(result, torch.Tensor):
            tensors = [value for value in tree_leaves(given) if isinstance(value, torch.Tensor)]
            if any(_is_same(value, result) for value in tensors if value.numel() > 1):
                self.found = name


def _is_foreign(module: torch.nn.Module) -> bool:
    """Whether a layer is a library's, and not the program's own."""
    return type(module).__module__.partition(".")[0] in ("torch", "transformers")


def _move_to(device: torch.device) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda value: value.to(device)


def _are_same(some: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    return len(some) == len(others) and all(map(_is_same, some, others))


def _is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype and torch.equal(one, other)


def _compare(eager: torch.Tensor, compiled: torch.Tensor) -> float:
    """Share of the elements that differ."""
    if not eager.numel():
        return 0.0
    if eager.is_floating_point():
        step = torch.finfo(eager.dtype).eps
        relative, absolute = max(_RELATIVE, 8 * step), max(_ABSOLUTE, 2 * step)
        limit = eager.abs() * relative + absolute * eager.abs().max()
        return int(((eager - compiled).abs() > limit).count_nonzero()) / eager.numel()
    return int((eager != compiled).count_nonzero()) / eager.numel()


def main() -> None:
    """Answer until the probe hangs up."""
    wire = connect()
    device = open_device(Target(sys.argv[1]), precision=Precision.HIGHEST, threads=int(sys.argv[2]))
    examiner = Examiner(device)
    try:
        while True:
            wire.send(examiner.answer(wire.receive(QUESTION, timeout_s=None)))
    except PeerGoneError:
        return


if __name__ == "__main__":
    main()
