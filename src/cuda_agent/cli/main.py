"""cuda-agent: from a PyTorch module to a verified, faster kernel.

usage: cuda-agent VERB [options]        (cuda-agent VERB --help tells each verb's options)

verbs:
  run        make tasks faster: an agent writes kernels, the judge scores them
  evaluate   judge submissions made elsewhere, one or many
  show       tell what happened in a run, turn by turn
  report     make pages of what runs left, or serve them while a run goes on
  bench      run a benchmark, report on it, compare two, or gate a suite
  synth      make tasks for training, or audit a data set of tasks
  train      train a policy in stages: imitation, PPO, fine-tuning, value pretraining
  serve      judge submissions for others, over HTTP
  export     turn a run's winning kernel into an installable package
  skill      install the skill where other agents look for skills
  mcp        offer tasks and the judge to other agents, as a Model Context Protocol server
  doctor     say what this machine can do, what is missing, and how to get it

inside a workspace, for the agent:
  build      check the rules and compile
  verify     and compare with the reference
  profile    and time against eager and torch.compile
  submit     the same, counted
  inspect    look at vectorisation, machine code, registers, counters

options of every verb:
  --verbose  tell everything, with tracebacks of errors
  --quiet    tell errors alone
  --version  print the version
  --help     print this help

exit status:
  0    done
  1    done, but a task failed or was not verified
  2    wrong use; the message says how to mend it
  3    the machine failed, or this program did; trying again may help
  130  interrupted; a run can be resumed with --resume
"""

import errno
import importlib
import itertools
import logging
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType

from cuda_agent import __version__
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.printable import make_lines_printable, make_printable

VERBS = (
    "run",
    "evaluate",
    "show",
    "report",
    "export",
    "serve",
    "skill",
    "mcp",
    "bench",
    "synth",
    "train",
    "doctor",
)
EXTRA_OF = {
    "fastapi": "serve",
    "uvicorn": "serve",
    "mcp": "mcp",
    "ray": "ray",
    "transformers": "train",
    "tokenizers": "train",
}
"""Which extra brings a package that a verb may need."""
WORKSPACE_VERBS = ("build", "verify", "profile", "submit", "inspect")
READING_VERBS = ("show", "report", "skill", "doctor")
"""Verbs that must work on a full disk too: the others have a folder for temporary files."""
LOUDNESS = ("--verbose", "--quiet")


def main(arguments: list[str] | None = None) -> int:
    """Run one verb and give its exit status. Nothing heavy is imported before the verb needs it."""
    arguments = sys.argv[1:] if arguments is None else arguments
    loudness = list(itertools.takewhile(LOUDNESS.__contains__, arguments))
    verb, *rest = arguments[len(loudness) :] or ["--help"]
    if verb in WORKSPACE_VERBS:
        from cuda_agent.environment.client import run_client

        return run_client([verb, *rest])
    if verb in ("--help", "-h", "help"):
        print(__doc__)
        return ExitCode.DONE
    if verb == "--version":
        print(f"cuda-agent {__version__}")
        return ExitCode.DONE
    if verb not in VERBS:
        print(f"cuda-agent: no verb {verb!r}; see cuda-agent --help", file=sys.stderr)
        return ExitCode.WRONG_USE
    with _heeding_signals():
        return _guard(verb, [*loudness, *rest])


def _guard(verb: str, arguments: list[str]) -> int:
    """Run a verb so that every way to fail ends in one clean message and its own exit status."""
    is_verbose = "--verbose" in arguments
    try:
        return _run_verb(verb, arguments)
    except UserError as error:
        return _tell(str(error), ExitCode.WRONG_USE, is_verbose=is_verbose)
    except InfrastructureError as error:
        return _tell(str(error), ExitCode.INFRASTRUCTURE, is_verbose=is_verbose)
    except KeyboardInterrupt:
        return _tell("interrupted", ExitCode.INTERRUPTED, is_verbose=is_verbose)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except Exception as error:
        if extra := _find_missing_extra(error):
            mend = f"{verb} needs the extra {extra}: pip install 'cuda-agent[{extra}]'"
            return _tell(mend, ExitCode.WRONG_USE, is_verbose=is_verbose)
        message = _explain_unforeseen(error, is_verbose=is_verbose)
        return _tell(message, ExitCode.INFRASTRUCTURE, is_verbose=is_verbose)


def _find_missing_extra(error: Exception) -> str | None:
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    return EXTRA_OF.get((name or "").partition(".")[0])


def _explain_unforeseen(error: Exception, *, is_verbose: bool) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        place = error.filename2 or error.filename or tempfile.gettempdir()
        return f"the disk is full at {place}: make room; TMPDIR names the folder for temporary files"
    hint = "" if is_verbose else "; run again with --verbose for the traceback"
    return f"bug: {type(error).__name__}: {error}{hint}"


@contextmanager
def _heeding_signals() -> Iterator[None]:
    """While a verb runs, SIGINT and SIGTERM interrupt it; afterwards they do what they did before."""
    before = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """Being asked to stop is being interrupted: the same tidying up runs. Being asked twice is the end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    raise KeyboardInterrupt


def _leave(_signal: int, _frame: FrameType | None) -> None:
    """End without tidying up. What we started dies with us, by the kernel; the next start sweeps the rest."""
    # Through the descriptor: the stream may be in the middle of writing.
    os.write(2, b"\x1b[?25h" if os.isatty(2) else b"")
    os.write(2, b"cuda-agent: interrupted twice, so nothing was tidied up\n")
    os._exit(ExitCode.INTERRUPTED)


def _run_verb(verb: str, arguments: list[str]) -> int:
    import tyro

    from cuda_agent.cli.run_folder import check_resume
    from cuda_agent.log import Verbosity, setup_logging
    from cuda_agent.scratch import keep_scratch

    given = [Verbosity(argument.removeprefix("--")) for argument in arguments if argument in LOUDNESS]
    setup_logging(given[-1] if given else Verbosity.NORMAL)
    check_resume(arguments)
    module = importlib.import_module(f"cuda_agent.cli.{verb}")
    config = tyro.cli(
        getattr(module, f"{verb.capitalize()}Config"),
        prog=f"cuda-agent {verb}",
        description=module.__doc__,
        config=(tyro.conf.EnumChoicesFromValues,),
        args=[argument for argument in arguments if argument not in LOUDNESS],
    )
    logging.getLogger(__name__).debug("%s", config)
    with nullcontext() if verb in READING_VERBS else keep_scratch():
        return int(getattr(module, f"run_{verb}")(config))


def _tell(message: str, code: ExitCode, *, is_verbose: bool) -> int:
    if is_verbose:
        print(make_lines_printable(traceback.format_exc()), end="", file=sys.stderr)
    print(f"cuda-agent: {make_printable(message)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
