"""An object for workers to serve that does as it is told, also ill."""

import ctypes
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cuda_agent.workers.item import Answer


class Toy:
    """Its payload says what happens; `folder` keeps what must outlive a worker."""

    def probe(self, _payload: Mapping[str, Any]) -> Answer:
        """Well, unless the file that SICK names is there."""
        sick = os.environ.get("SICK")
        if sick and Path(sick).exists():
            raise RuntimeError("the device is sick")
        return Answer(value={})

    def first(self, payload: Mapping[str, Any]) -> Answer:
        """The step on the host."""
        return Answer(value={"seen": "first"}, is_last=bool(payload.get("stop")))

    def work(self, payload: Mapping[str, Any]) -> Answer:
        """Do what `do` names."""
        do = payload.get("do", "echo")
        if do == "segfault":
            ctypes.string_at(0)
        if do == "segfault once" and self._mark(payload):
            ctypes.string_at(0)
        if do == "exit":
            os._exit(3)
        if do == "fail":
            raise ValueError("it does not work")
        if do == "fail once" and self._mark(payload):
            raise ValueError("it does not work yet")
        if do == "hang":
            time.sleep(600)
        if do == "print":
            print("a line that is no reply")
            os.write(1, b"another one\n")
        if do == "sicken":
            Path(os.environ["SICK"]).touch()
            raise ValueError("the device failed")
        time.sleep(payload.get("seconds", 0.0))
        return Answer(
            value={
                "echo": payload.get("say", ""),
                "pid": os.getpid(),
                "visible": os.environ.get("CUDA_VISIBLE_DEVICES"),
            }
        )

    def close(self) -> None:
        """Nothing to tidy up."""

    def _mark(self, payload: Mapping[str, Any]) -> bool:
        mark = Path(payload["mark"])
        is_new = not mark.exists()
        mark.touch()
        return is_new
