"""Puts a task before the gate: can it be answered without computing, and has it one answer at all?

Runs in the reference process before a submission is loaded, so nobody but the task itself can make it say
something else. Trivial answers are held against the task with the judge's own comparison: where one passes,
being right means nothing. A few calls of the reference are all it takes; outputs are looked at in samples.
"""

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from cuda_agent.judge.cheaper import CheaperForm, find_cheaper_form, measure_gain
from cuda_agent.judge.compare import Wanted, compare_tensor
from cuda_agent.judge.contestant import have_same_bytes, poison_fresh_memory
from cuda_agent.judge.device import Device
from cuda_agent.judge.inputs import refresh_values
from cuda_agent.judge.policy import JudgePolicy, Tolerance
from cuda_agent.judge.result import TaskResult, TaskStatus, VerifyStatus
from cuda_agent.judge.tree import describe_value, map_tensors

SAMPLE = 1 << 18
"""How many elements of an output are looked at."""
TOO_LONG_S = 20.0
"""A reference that takes longer is not judged: an evaluation makes over a hundred calls."""
SHORT_MS = 0.1
"""A reference that takes less is timed with an error of some percent."""
_WORTHWHILE = 1.05

Inputs = Sequence[Any]
"""Forward's arguments."""
Tensors = Sequence[torch.Tensor]
"""Samples of outputs, or parameters."""


class Answer(NamedTuple):
    """What a reference gave for one set of inputs, in samples."""

    exact: Tensors
    """In float64, or as it stands where that does not work."""
    eager: Tensors
    """As it stands."""
    reduction: float
    """How many elements one output element may sum up."""


class Gatekeeper:
    """One look at one task."""

    def __init__(
        self,
        model: torch.nn.Module,
        make_inputs: Callable[[], Inputs],
        *,
        device: Device,
        policy: JudgePolicy,
    ) -> None:
        """Nothing has been run.

        Args:
            model: the reference, in evaluation mode; its weights are afterwards as they were.
            make_inputs: forward's arguments, drawn anew by torch's generator.
            device: where it runs.
            policy: whose tolerance decides whether a trivial answer passes.
        """
        self._model = model
        self._make_inputs = make_inputs
        self._device = device
        self._policy = policy
        self._flags: list[str] = []

    def run(self) -> TaskResult:
        """What is wrong with the task, the first thing found, or what is to be known of it."""
        torch.manual_seed(1)
        inputs, others = self._make_inputs(), self._make_inputs()
        with torch.no_grad():
            start_s = time.monotonic()
            eager = self._call(inputs)
            if (took_s := time.monotonic() - start_s) > TOO_LONG_S:
                return _refuse(f"too big: one call takes {took_s:.0f} s, more than {TOO_LONG_S:.0f} s")
            stale = self._call(others)
            with poison_fresh_memory():
                again = self._call(inputs)
            self._look_at_time(inputs)
            answer = Answer(self._call_exactly(inputs), eager, self._count_reduction(inputs, eager))
            reason = self._find_fault(answer, stale=stale, again=again, inputs=inputs)
            if reason:
                return _refuse(reason)
            cheaper, gain = self._look_for_cheaper(answer, inputs)
        return TaskResult(
            status=TaskStatus.FLAGGED if self._flags else TaskStatus.OK,
            flags=tuple(self._flags),
            cheaper_form=cheaper,
            cheaper_gain=gain,
        )

    def _find_fault(self, answer: Answer, *, stale: Tensors, again: Tensors, inputs: Inputs) -> str:
        if not any(map(torch.numel, answer.eager)):
            return "forward returns no element that could be compared"
        if not any(bool(torch.isfinite(value).any()) for value in answer.eager):
            return "not one element of its output is finite"
        if not all(bool(torch.isfinite(value).all()) for value in answer.eager):
            self._flags.append("parts of its output are not finite, and compared only for being so")
        if reason := self._explain_change(answer.eager, again, inputs=inputs):
            return reason
        for what, guess in self._list_guesses(answer, stale, inputs=inputs):
            if self._passes(guess, answer):
                reason = f"{what} would pass for its output"
                if self._policy.tolerance is Tolerance.CALIBRATED:
                    return reason
                self._flags.append(f"{reason} under the policy's fixed tolerance")
                break
        return ""

    def _list_guesses(
        self, answer: Answer, stale: Tensors, *, inputs: Inputs
    ) -> Iterator[tuple[str, Tensors]]:
        """Answers that take no computing."""
        yield "zeros", list(map(torch.zeros_like, answer.eager))
        yield "a constant", [torch.full_like(value, _take_mean(value)) for value in stale]
        yield "the answer to other inputs", stale
        parameters = [value for value in self._model.parameters() if value.is_floating_point()]
        if parameters:
            yield "the answer of other weights", self._call_with_others(parameters, inputs)
        for index, given in enumerate(describe_value(inputs)[1]):
            yield f"input {index}, given back,", [_take_sample(given)] * len(answer.eager)

    def _passes(self, guess: Tensors, answer: Answer) -> bool:
        """Whether every output, so answered, would be right."""
        return len(guess) == len(answer.eager) and all(
            (got.shape, got.dtype) == (eager.shape, eager.dtype)
            and compare_tensor(
                got, Wanted(exact, eager), policy=self._policy, path="out", reduction=answer.reduction
            ).status
            is VerifyStatus.OK
            for got, exact, eager in zip(guess, answer.exact, answer.eager, strict=True)
        )

    def _explain_change(self, first: Tensors, again: Tensors, *, inputs: Inputs) -> str:
        """Why the same inputs gave another answer after others had been seen; empty where they did not."""
        if len(first) == len(again) and all(map(have_same_bytes, first, again)):
            return ""
        before = self._read_generators()
        self._call(inputs)
        if not all(map(torch.equal, before, self._read_generators())):
            return "its output is random: forward draws random numbers, and has no one answer"
        if len(first) == len(again) and all(map(_is_near, first, again)):
            return ""  # sums in the order in which threads come
        return (
            "its output depends on earlier calls or on memory that nothing wrote: forward keeps a state "
            "or returns what it left empty, and has no one answer"
        )

    def _read_generators(self) -> list[torch.Tensor]:
        states = [torch.get_rng_state()]
        return [*states, torch.cuda.get_rng_state()] if self._device.torch_device.type == "cuda" else states

    def _call(self, inputs: Inputs) -> Tensors:
        outputs = describe_value(self._model(*_copy(inputs)), path="out")[1]
        self._device.synchronize()
        return list(map(_take_sample, outputs))

    def _call_exactly(self, inputs: Inputs) -> Tensors:
        def widen(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.double() if tensor.is_floating_point() else tensor.clone()

        try:
            outputs = copy.deepcopy(self._model).double()(*_copy(inputs, widen))
        except (RuntimeError, NotImplementedError, TypeError) as error:
            cause = _read_first_line(error)
            self._flags.append(f"it has no float64 form to be exact by ({cause}){hint_at_dtype(cause)}")
            return self._call(inputs)
        return list(map(_take_sample, describe_value(outputs, path="out")[1]))

    def _call_with_others(self, parameters: Tensors, inputs: Inputs) -> Tensors:
        """The outputs with other values of all weights, which are put back."""
        kept = [value.detach().clone() for value in parameters]
        try:
            for value, fresh in zip(parameters, refresh_values(kept, 3), strict=True):
                value.copy_(fresh)
            return self._call(inputs)
        finally:
            for value, former in zip(parameters, kept, strict=True):
                value.copy_(former)

    def _count_reduction(self, inputs: Inputs, outputs: Tensors) -> float:
        sources = [*describe_value(inputs)[1], *self._model.state_dict().values()]
        longest = max((max(value.shape, default=1) for value in sources), default=1)
        smallest = max(min(map(torch.numel, outputs), default=1), 1)
        return max(sum(map(torch.numel, sources)) / smallest, longest)

    def _look_at_time(self, inputs: Inputs) -> None:
        given = _copy(inputs)
        took_ms = min(self._device.time_call(lambda: self._model(*given))[1] for _ in range(2))
        if took_ms < SHORT_MS:
            self._flags.append(f"too small to be timed well: one call takes {took_ms * 1e3:.0f} us")

    def _look_for_cheaper(self, answer: Answer, inputs: Inputs) -> tuple[str, float]:
        """A cheaper form that gives the same, and how many times faster it is."""
        form: CheaperForm | None = find_cheaper_form(self._model)
        if form is None:
            return "", 1.0
        given = _copy(inputs)
        got = describe_value(form.model(*_copy(inputs)))[1]
        if not self._passes(list(map(_take_sample, got)), answer):
            return "", 1.0
        gain = measure_gain(self._model, form.model, inputs=given, device=self._device)
        if gain < _WORTHWHILE:
            return "", 1.0
        self._flags.append(f"a wasteful reference: {form.text} gives the same {gain:.3g} times faster")
        return form.text, gain


def hint_at_dtype(error: str) -> str:
    """What is probably wrong where an error speaks of dtypes; else nothing."""
    if "dtype" not in error and "scalar type" not in error:
        return ""
    return (
        "; forward makes a tensor, such as a hidden state, without its inputs' dtype: give it dtype=x.dtype"
    )


def _refuse(reason: str) -> TaskResult:
    return TaskResult(status=TaskStatus.FAULTY, reason=reason)


def _is_near(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two answers differ by no more than the order of summation explains."""
    if one.shape != other.shape or not (one.is_floating_point() or one.is_complex()):
        return False
    if not torch.equal(torch.isfinite(one), torch.isfinite(other)):
        return False
    limit = torch.finfo(one.dtype).eps ** 0.5 * float(one.abs().nan_to_num(0.0, 0.0, 0.0).max())
    return not bool(((one - other).abs() > limit).any())


def _copy(inputs: Inputs, copy_tensor: Callable[[torch.Tensor], torch.Tensor] = torch.clone) -> Inputs:
    copied: Any = map_tensors(inputs, copy_tensor)
    return tuple(copied)


def _take_sample(value: torch.Tensor) -> torch.Tensor:
    """Elements at equal distances, so that a few rows of many do not stand for all."""
    flat = value.detach().reshape(-1)
    step = flat.numel() // SAMPLE + 1
    # An odd step visits every column of the usual even row lengths.
    return flat[:: step | 1 if step > 1 else 1].clone()


def _take_mean(value: torch.Tensor) -> float:
    """A value's mean, in a form that any dtype can be filled with."""
    if value.is_complex() or not value.numel():
        return 0.0
    mean = float(value.double().mean())
    return mean if value.is_floating_point() else float(round(mean))


def _read_first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
