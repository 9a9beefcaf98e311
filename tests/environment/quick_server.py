"""A real server with real workers that only give back what they are sent."""

import functools
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from cuda_agent.environment.evaluator import make_item
from cuda_agent.environment.orders import OrderBook
from cuda_agent.environment.server import create_app
from cuda_agent.environment.submission import Submission
from cuda_agent.rundir import RunDir
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.item import Tier, WorkItem
from cuda_agent.workers.local import LocalWorker
from cuda_agent.workers.worker_pool import WorkerPool

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a secret of the server"


@contextmanager
def serve(run: RunDir, *, max_open: int = 100, port: int = 0) -> Iterator[str]:
    """A real server with real workers; its address."""
    env = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    make = functools.partial(LocalWorker, "tests.environment.served:Quick", name="quick", env=env)
    with WorkerPool({Tier.HOST: [make], Tier.DEVICE: [make]}) as pool, socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        app = create_app(pool, OrderBook(run), token=TOKEN, max_open=max_open)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def order(name: str, seconds: float = 0.0) -> WorkItem:
    submission = Submission({"model_new.py": str(seconds).encode()})
    return make_item(name, Task(name="t", source=""), submission=submission, target=Target.CPU)
