"""The commands inside a workspace: `cuda-agent build | verify | profile | submit | inspect WHAT`.

They ask the judge outside, through a socket, and print what it says. Only the standard library is
imported here, so that a command starts at once.
"""

import json
import os
import socket
import sys

CHANNEL_VARIABLE = "CUDA_AGENT_CHANNEL"
"""The environment variable that holds the socket's path."""

INSPECTIONS = ("vectors", "assembly", "counters", "registers", "memory", "kernels")
VERBS = ("build", "verify", "profile", "submit", *(f"inspect {what}" for what in INSPECTIONS))
MAX_REPLY_BYTES = 1 << 20
WRONG_USE = 2

USAGE = """usage: cuda-agent build | verify | profile | submit    (in the workspace; no arguments)
  build    check the rules and compile
  verify   and compare with the reference on hidden inputs
  profile  and time against eager and torch.compile
  submit   the same, counted
       cuda-agent inspect WHAT    look at what was built; the whole report is kept in inspections/
  cpu:  vectors (which loops), assembly, counters (perf)
  cuda: registers (and spills), assembly, memory (compute-sanitizer), kernels (Nsight Compute)
exit status: 0 every stage passed, 1 a stage failed, 2 wrong use or no judge"""


def run_client(arguments: list[str]) -> int:
    """Ask for one verb, print the answer, and return its exit status."""
    if arguments[1:] in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    verb = " ".join(arguments)
    if verb not in VERBS:
        print(USAGE, file=sys.stderr)
        return WRONG_USE
    path = os.environ.get(CHANNEL_VARIABLE)
    if not path:
        print(
            f"cuda-agent {verb} works inside an agent's workspace only; "
            "outside, use: cuda-agent evaluate TASK.py FOLDER",
            file=sys.stderr,
        )
        return WRONG_USE
    try:
        status, text = ask(path, verb)
    except (OSError, ValueError) as error:
        print(f"the judge did not answer ({error!r}): try again", file=sys.stderr)
        return WRONG_USE
    print(text)
    return status


def ask(path: str, verb: str) -> tuple[int, str]:
    """Send one request and wait for its answer: exit status and text.

    Raises:
        OSError: the socket cannot be reached.
        ValueError: the answer is not an answer.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        connection.sendall(json.dumps({"verb": verb}).encode() + b"\n")
        with connection.makefile("rb") as stream:
            line = stream.readline(MAX_REPLY_BYTES)
    answer = json.loads(line)
    return int(answer["status"]), str(answer["text"])
