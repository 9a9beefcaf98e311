"""Every error this package raises on purpose.

An error names the thing, the cause and the mend. `UserError` and its children mean that the user can
mend it; `InfrastructureError` means that the machine failed and the same request may be tried again.
A submission that fails is never an error: it is a status in an Evaluation.

`except Exception` is allowed only where a process or an episode ends:

- `judge/child.py`: a request's failure becomes a reply;
- `judge/ahead.py`: what fails in its thread is raised where it is awaited;
- `judge/compiling.py`: what the compiler refuses is tried once more with fewer doubts;
- `workers/child.py`: the same, of a pool's worker;
- `judge/reference.py`: a reference that does not compile has no compiled baseline;
- `expert/trace.py`: a traced program's failure becomes a reason;
- `agent/interruption.py`: a call's failure is raised in the thread that waits for it;
- `synthesis/crew.py`: a job's failure is raised in the thread that asks for its result;
- `synthesis/trial.py`: whatever a library's own check raises says that a program cannot run;
- `synthesis/examine.py`: a candidate's failure becomes an answer;
- `bench/survey.py`: likewise, of a suite's task;
- `rl/verl_adapter/engine_chat.py`: an engine's failure is the machine's;
- `agent/capture.py`: a policy's failure becomes a stop reason;
- `environment/channel.py`: a client's failure must not end the server;
- `cli/main.py`: the last line of defence, which prints and exits.
"""


class CudaAgentError(Exception):
    """Anything this package raises on purpose."""


class UserError(CudaAgentError, ValueError):
    """The request cannot be served as it stands, and the message says how to mend it."""


class TaskError(UserError):
    """A task file is not a usable task: names file, line and mend."""


class ConfigError(UserError):
    """A configuration, or a resumed run's configuration, does not fit."""


class SandboxError(UserError):
    """The asked-for containment is not available here."""


class ToolchainError(UserError):
    """A compiler or one of its parts is missing: says which, and how to get it."""


class InfrastructureError(CudaAgentError, RuntimeError):
    """The machine, not the request, failed: trying again may help."""


class ProtocolError(InfrastructureError):
    """A message between two of our processes broke the protocol."""
