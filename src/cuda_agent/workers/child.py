"""The process of a local worker: serves one object's methods over its standard streams.

Run as `python -m cuda_agent.workers.child MODULE:CLASS`; the class is called without arguments. A request
is one line of JSON, `{"method": ..., "payload": ...}`; the reply is one line, an `Answer` or
`{"error": ...}`. What the object prints goes to standard error, so that it cannot disturb the replies.
"""

import ctypes
import importlib
import json
import os
import signal
import sys
from contextlib import closing
from typing import Any

_PR_SET_PDEATHSIG = 1


def serve(served: Any) -> None:  # noqa: ANN401
    """Answer requests until nobody asks any more."""
    requests = sys.stdin
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in requests:
        request = json.loads(line)
        try:
            reply = getattr(served, request["method"])(request["payload"]).model_dump_json()
        except Exception as error:
            reply = json.dumps({"error": f"{type(error).__name__}: {error}"})
        replies.write(reply + "\n")
        replies.flush()


def main() -> None:
    """Serve what the first argument names, until nobody asks any more or SIGTERM asks for the end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    module, _, name = sys.argv[1].partition(":")
    with closing(getattr(importlib.import_module(module), name)()) as served:
        serve(served)


if __name__ == "__main__":
    main()
