"""The process that looks at a suite's tasks, in a sandbox: one after another, as the surveyor asks.

Run as `python -m cuda_agent.bench.survey`. Every task first runs on the meta device, which allocates nothing.
The gate's measurements then need real values: of the task itself where it is small enough for this machine,
or else of the least changed stand-in that is.
"""

import gc
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from pydantic import TypeAdapter
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from cuda_agent.bench.gate import MEMORY_BYTES, Basis, Facts, Survey, Surveyed
from cuda_agent.bench.stand_in import StandIn, list_stand_ins
from cuda_agent.judge.child import connect
from cuda_agent.judge.gate import GateMeasurement, measure_gate
from cuda_agent.judge.reference import import_source
from cuda_agent.judge.wire import PeerGoneError

COMFORTABLE_S = 3.0
"""A form of a task that should take less is taken at once."""
BEARABLE_S = 40.0
"""A form that should take longer is never run."""

_FLOPS_A_S = 4e10
_BYTES_A_S = 4e9
_DRAWN_BYTES_A_S = 2e8
_WEIGHTS_EXCHANGED = 64
_COPIES = 3


@dataclass(frozen=True)
class Cost:
    """What the gate's measurements of one form of a task should take on a processor."""

    facts: Facts
    """What its tensors and products take."""
    seconds: float
    """About how long, where no weight matters and so each is exchanged in vain."""
    likely_s: float
    """About how long where the first one matters."""
    memory_bytes: int
    """About how much memory."""


def survey(question: Survey) -> Surveyed:
    """Look at one task; whatever it does wrong is part of the answer."""
    try:
        cost: Cost | None = estimate_cost(question.code)
        reason = ""
    except Exception as error:  # a process boundary (see errors.py)
        cost, reason = None, _describe(error)
    facts = cost.facts if cost else None
    form = _choose_form(question.code, cost)
    if form is None:
        reason = reason or "no form of it is small enough to be run here"
        return Surveyed(facts=facts, basis=Basis.NONE, reason=reason)
    basis = Basis.STAND_IN if form.changes else Basis.FULL
    try:
        gate = run_gate(form.source, seed=question.seed)
    except Exception as error:  # a process boundary (see errors.py)
        reason = _describe(error)
        return Surveyed(facts=facts, basis=Basis.NONE, changes=form.describe(), reason=reason)
    return Surveyed(facts=facts, basis=basis, changes=form.describe(), gate=gate)


def estimate_cost(code: str) -> Cost:
    """What a task takes, from one run on the meta device; raises whatever the program does."""
    counter = _Counter()
    with torch.no_grad(), torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = import_source(code)
        model = _build_model(program)
        inputs = program.get_inputs()
        for module in model.modules():
            if isinstance(module, torch.nn.RNNBase):
                counter.skip_steps(module)
        with counter:
            outputs = model(*inputs)
    facts = Facts(
        input_bytes=_count_bytes(inputs),
        weight_bytes=_count_bytes(list(model.state_dict().values())),
        output_bytes=_count_bytes(outputs),
        flops=counter.flops,
    )
    exchanged = min(sum(1 for _ in model.parameters()), _WEIGHTS_EXCHANGED)
    forwards = 1 + len(inputs) + exchanged
    forward_s = facts.flops / _FLOPS_A_S + counter.moved_bytes / _BYTES_A_S
    drawn_s = 2 * (facts.weight_bytes + facts.input_bytes) / _DRAWN_BYTES_A_S
    return Cost(
        facts=facts,
        seconds=forwards * forward_s + drawn_s,
        likely_s=(forwards - max(exchanged - 1, 0)) * forward_s + drawn_s,
        memory_bytes=_COPIES * (facts.moved_bytes + counter.largest_bytes),
    )


def run_gate(code: str, *, seed: int) -> GateMeasurement:
    """The gate's measurements of a task, in memory; raises whatever the program does."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = import_source(code)
        torch.manual_seed(seed)
        model = _build_model(program)
        inputs = list(program.get_inputs())
        torch.manual_seed(seed + 1)
        return measure_gate(model, inputs, fresh=list(program.get_inputs()))


def _choose_form(code: str, cost: Cost | None) -> StandIn | None:
    """The least changed form that is comfortable, or else the cheapest that is bearable."""
    bearable: list[tuple[float, StandIn]] = []
    for form, form_cost in _iterate_forms(code, cost):
        if form_cost.memory_bytes > MEMORY_BYTES or form_cost.likely_s > BEARABLE_S:
            continue
        if form_cost.seconds <= COMFORTABLE_S:
            return form
        bearable.append((form_cost.seconds, form))
    return min(bearable, key=lambda pair: pair[0])[1] if bearable else None


def _iterate_forms(code: str, cost: Cost | None) -> Iterator[tuple[StandIn, Cost]]:
    if cost is None:
        return
    yield StandIn(code, {}), cost
    for form in list_stand_ins(code):
        try:
            yield form, estimate_cost(form.source)
        except Exception:  # a process boundary (see errors.py)
            continue  # these sizes do not fit together


class _Counter(TorchDispatchMode):
    """What operations read, write and compute, and the largest tensor that one of them makes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.moved_bytes = self.largest_bytes = self.flops = 0

    def skip_steps(self, module: torch.nn.RNNBase) -> None:
        """Have a recurrent layer say what it returns, and count it, without its thousands of operations."""

        def forward(given: torch.Tensor, _state: Any = None) -> Any:  # noqa: ANN401
            self._count_recurrent(module, given)
            return _describe_recurrent(module, given)

        module.forward = forward

    def _count_recurrent(self, module: torch.nn.RNNBase, given: torch.Tensor) -> None:
        """Each step reads every weight, and multiplies each with every row."""
        weights = [weight for weight in module.parameters() if weight.dim() > 1]
        steps = given.shape[0] if given.dim() == 2 else given.shape[int(module.batch_first)]
        self.flops += 2 * (given.numel() // given.shape[-1]) * sum(map(torch.Tensor.numel, weights))
        self.moved_bytes += steps * _count_bytes(weights)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        kwargs = kwargs or {}
        output = func(*args, **kwargs)
        if not func.is_view:
            count = flop_registry.get(func.overloadpacket)
            self.flops += int(count(*args, **kwargs, out_val=output)) if count else 0
            made = _count_bytes(output)
            self.moved_bytes += made + _count_bytes((args, kwargs))
            self.largest_bytes = max(self.largest_bytes, made)
        return output


def _describe_recurrent(module: torch.nn.RNNBase, given: torch.Tensor) -> Any:  # noqa: ANN401
    """What a recurrent layer returns, by shape alone: outputs and last states."""
    directions = 2 if module.bidirectional else 1
    width = module.proj_size or module.hidden_size
    batch = () if given.dim() == 2 else (given.shape[1 - int(module.batch_first)],)
    outputs = given.new_empty(*given.shape[:-1], directions * width)
    hidden = given.new_empty(directions * module.num_layers, *batch, width)
    if module.mode != "LSTM":
        return outputs, hidden
    return outputs, (hidden, given.new_empty(directions * module.num_layers, *batch, module.hidden_size))


def _build_model(program: Any) -> torch.nn.Module:  # noqa: ANN401
    arguments = program.get_init_inputs()
    model = program.Model(**arguments) if isinstance(arguments, dict) else program.Model(*arguments)
    model.eval()
    return model  # type: ignore[no-any-return]


def _count_bytes(values: object) -> int:
    tensors = [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]
    return sum(tensor.numel() * tensor.itemsize for tensor in tensors)


def _describe(error: Exception) -> str:
    lines = str(error).strip().splitlines() or ["no message"]
    return f"{type(error).__name__}: {lines[0][:300]}"


def main() -> None:
    """Answer until the surveyor hangs up."""
    wire = connect()
    question: TypeAdapter[Survey] = TypeAdapter(Survey)
    try:
        while True:
            wire.send(survey(wire.receive(question, timeout_s=None)))
            gc.collect()
    except PeerGoneError:
        return


if __name__ == "__main__":
    main()
