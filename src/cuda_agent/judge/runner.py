"""The untrusted process: the only code that ever loads a submission.

It holds nothing worth stealing: no seed, no reference, no expected value, no verdict. Inputs and
weights arrive as bytes, outputs leave as bytes, and whatever it says about itself is a claim.
Run by the judge as `python -m cuda_agent.judge.runner`.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import tvm_ffi

from cuda_agent.judge.child import Child, Handler, connect
from cuda_agent.judge.contestant import Lane
from cuda_agent.judge.device import Device
from cuda_agent.judge.mailbox import read_tensors
from cuda_agent.judge.protocol import (
    Call,
    CallMode,
    Collect,
    Construct,
    Contestant,
    Drop,
    Load,
    Mute,
    SetWeights,
    Stage,
)
from cuda_agent.judge.replies import Called, Described, Done
from cuda_agent.judge.tree import build_value


class Runner:
    """One submission, loaded once."""

    def __init__(self, child: Child) -> None:
        """Nothing is loaded yet."""
        self._child = child
        self._module: ModuleType | None = None
        self._kernels: Kernels | None = None
        self._model: Any = None
        self._lane: Lane | None = None

    def list_handlers(self) -> dict[str, Handler]:
        """Which method answers which request."""
        return {
            "load": self.load,
            "construct": self.construct,
            "set_weights": self.set_weights,
            "mute": self.mute,
            "stage": self.stage,
            "call": self.call,
            "collect": self.collect,
            "drop": self.drop,
        }

    def load(self, request: Load) -> Done:
        """Import model_new.py, with its built library as the module `kernels`."""
        folder = Path(request.folder)
        self._kernels = Kernels(request.library)
        sys.modules["kernels"] = self._kernels
        path = folder / "model_new.py"
        # Decoded here, as the rules decoded it: the importer would obey a coding cookie.
        code = compile(path.read_bytes().decode("utf-8"), str(path), "exec", dont_inherit=True)
        self._module = ModuleType("model_new")
        self._module.__file__ = str(path)
        sys.modules["model_new"] = self._module
        exec(code, self._module.__dict__)
        return Done()

    def construct(self, request: Construct) -> Done:
        """Build ModelNew with the reference's own constructor arguments."""
        arguments: Any = self._read(request.arguments)
        model_class = getattr(self._module, "ModelNew", None)
        if model_class is None:
            raise NameError("model_new.py defines no ModelNew")
        assert self._child.device is not None
        with torch.no_grad():
            model = model_class(**arguments) if isinstance(arguments, dict) else model_class(*arguments)
            self._model = model.to(self._child.device.torch_device).eval()
        kernels = self._kernels
        assert kernels is not None, "load comes first"
        self._lane = Lane(self._model, self._child.device, is_in_kernel=lambda: kernels.is_running)
        return Done()

    def set_weights(self, request: SetWeights) -> Done:
        """Load the state by name; what ModelNew does not keep is left out.

        A ModelNew with a `load_state_dict` of its own (it fuses or renames) gets the whole state.
        """
        state: Any = self._read(request.state)
        if type(self._model).load_state_dict is not torch.nn.Module.load_state_dict:
            self._model.load_state_dict(state)
            return Done()
        own = self._model.state_dict()
        missing = sorted(name for name, _ in self._model.named_parameters() if name not in state)
        if missing:
            raise KeyError(
                f"ModelNew has parameters that the reference does not: {', '.join(missing)}; "
                f"the reference has {', '.join(sorted(state)) or 'none'}"
            )
        shared = {name: value for name, value in state.items() if name in own}
        self._model.load_state_dict(shared, strict=False)
        return Done()

    def mute(self, request: Mute) -> Done:
        """Switch the kernels off, or on again."""
        assert self._kernels is not None, "load comes first"
        self._kernels.muted = request.on
        return Done()

    def stage(self, request: Stage) -> Done:
        """Copy the inputs to fresh addresses."""
        assert request.inputs is not None, "a runner has no inputs of its own"
        self._get_lane().stage(self._child.inbox, request.inputs)
        return Done()

    def call(self, request: Call) -> Called:
        """Call forward on what is staged."""
        return self._get_lane().call(request)

    def collect(self, request: Collect) -> Described:
        """Hand one output over."""
        return Described(node=self._get_lane().collect(self._child.outbox, request.index))

    def drop(self, request: Drop) -> Done:
        """Forget inputs and outputs."""
        self._get_lane().drop()
        return Done()

    def _get_lane(self) -> Lane:
        assert self._lane is not None, "construct comes first"
        return self._lane

    def _read(self, node: Any) -> object:  # noqa: ANN401
        tensors = node.list_tensors()
        return build_value(node, read_tensors(self._child.inbox, tensors) if tensors else [])


class Kernels(ModuleType):
    """What `import kernels` gives: every function the built library exports, by name."""

    def __init__(self, library: str | None) -> None:
        """Load the library; without one there is no function."""
        super().__init__("kernels", "The submission's own built functions.")
        self.muted = False
        self.is_running = False
        self._library = tvm_ffi.load_module(library) if library else None

    def __getattr__(self, name: str) -> Callable[..., object]:
        """The exported function of that name; while muted it does nothing."""
        dunder = name.startswith("__")
        function = None if dunder or self._library is None else self._library.get_function(name)
        if function is None:
            raise AttributeError(f"the kernels export no function {name!r}: add EXPORT_KERNEL({name}, ...)")

        def call(*arguments: object) -> object:
            if self.muted:
                return None
            self.is_running = True
            try:
                return function(*arguments)
            except SystemError as error:
                # What the guard raises below a kernel's own C++ comes back wrapped.
                raise (error.__cause__ or error) from None
            finally:
                self.is_running = False

        setattr(self, name, call)
        return call


def rehearse(device: Device) -> None:
    """Go once through what happens around a submission's forward."""
    values = torch.ones(8, device=device.torch_device)
    lane = Lane(torch.clone, device)
    for mode in (CallMode.CHECK, CallMode.BATCH):
        lane.stage_value((values,))
        lane.call(Call(contestant=Contestant.CANDIDATE, mode=mode, poisoned=mode is CallMode.CHECK))
        lane.drop()
    values.int().add_(1).amax()


def main() -> None:
    """Answer the judge until it hangs up."""
    child = Child(connect(), rehearse=rehearse)
    child.serve(Runner(child).list_handlers())


if __name__ == "__main__":
    main()
