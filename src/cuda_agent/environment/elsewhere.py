"""Submissions of this machine's episodes, evaluated by a pool elsewhere: of a Ray cluster, or of a server."""

import os
import secrets
from dataclasses import dataclass

from cuda_agent.environment.evaluate import Setting
from cuda_agent.environment.evaluator import Request, encode_files, make_item_of
from cuda_agent.environment.remote_pool import RemotePool
from cuda_agent.environment.result import Evaluation, Stage
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import ConfigError, InfrastructureError
from cuda_agent.workers.pool import Pool

RAY = "ray:"
TOKEN_VARIABLE = "CUDA_AGENT_TOKEN"


@dataclass(frozen=True)
class Elsewhere:
    """In the place of this machine's own judges."""

    pool: Pool
    """Who evaluates; it is asked from several threads."""

    def evaluate(self, submission: Submission, *, setting: Setting, until: Stage) -> Evaluation:
        """Take a submission through the stages up to `until`, as `evaluate` does here.

        Raises:
            InfrastructureError: the pool could not, whatever the submission is.
        """
        request = Request(
            task=setting.task,
            files=encode_files(submission),
            problems=submission.problems,
            target=setting.target,
            policy=setting.policy.name,
            until=until,
        )
        (outcome,) = self.pool.run([make_item_of(secrets.token_hex(8), request)])
        if outcome.value is None:
            why = f"{outcome.status.value}: {outcome.reason}"
            raise InfrastructureError(f"{setting.task.task_id}: the pool did not evaluate it ({why})")
        return Evaluation.model_validate(outcome.value)


def open_pool(where: str) -> Pool:
    """The pool at `where`: `ray:NAME` in this machine's cluster, or the URL of a `cuda-agent serve`.

    A server's token is taken from the environment.

    Raises:
        ConfigError: `where` is neither.
        UserError: there is no such pool.
    """
    if where.startswith(RAY):
        from cuda_agent.workers.ray_pool import RayPool

        return RayPool(where.removeprefix(RAY))
    if where.startswith(("http://", "https://")):
        return RemotePool(where, token=os.environ.get(TOKEN_VARIABLE, ""), run_id=secrets.token_hex(8))
    raise ConfigError(f"{where!r} is no pool: give ray:NAME, or a URL such as http://host:8321")
