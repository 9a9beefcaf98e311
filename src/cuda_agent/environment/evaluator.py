"""What a pool's workers serve: a submission built on one, judged on another.

The first step builds, on a worker that needs no device; whoever fails there never takes a device's time.
The second judges, on a worker that has the device to itself, and finds the build in the cache. A judge
stays warm for its task, so items carry the task's key as their affinity.
"""

import base64
from collections.abc import Mapping
from typing import Any, Self

from pydantic import model_validator

from cuda_agent.config import Record
from cuda_agent.environment.build_cache import find_build_cache
from cuda_agent.environment.evaluate import Setting, evaluate
from cuda_agent.environment.result import Evaluation, Stage, Violation
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.device import measure_product
from cuda_agent.judge.judge import Judge
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import ProfileStatus, VerifyStatus
from cuda_agent.judge.stock import Stock
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment, Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.item import Answer, Step, Tier, WorkItem

BUILD_LIMIT_S = 180.0
JUDGE_LIMIT_S = 900.0
SERVED = f"{__name__}:Evaluator"
"""What a worker is told to serve."""
SUSPECT = (
    VerifyStatus.CRASHED,
    VerifyStatus.TIMED_OUT,
    ProfileStatus.CRASHED,
    ProfileStatus.TIMED_OUT,
)
"""How a submission ends that may have harmed the device."""
_AHEAD = {Target.CPU: (1, 0), Target.CUDA: (2, 1)}
"""Runners and reference processes that wait: on cuda a start takes longer than judging a submission."""
_PROBES = 3
_SLOWER = 10.0


class Request(Record):
    """A submission to be evaluated, as it travels to a worker."""

    task: Task
    """The reference."""
    files: Mapping[str, str]
    """The submission's files, each in base64."""
    problems: tuple[Violation, ...] = ()
    """Its files that could not be taken."""
    target: Target
    """Where kernels run."""
    policy: str = "strict"
    """How strictly it is judged."""
    containment: Containment = Containment.AUTO
    """How untrusted commands are contained."""

    @model_validator(mode="after")
    def _check_files(self) -> Self:
        """A request with files that no submission may have never reaches a worker."""
        self.open_submission()
        return self

    def open_submission(self) -> Submission:
        """The submission that travelled.

        Raises:
            ValueError: it is no submission.
        """
        files = {path: base64.b64decode(text, validate=True) for path, text in self.files.items()}
        return Submission(files, self.problems)


def make_item(
    item_id: str,
    task: Task,
    *,
    submission: Submission,
    target: Target,
    policy: str = "strict",
    containment: Containment = Containment.AUTO,
) -> WorkItem:
    """The item that evaluates a submission; its outcome's value is the Evaluation."""
    files = {path: base64.b64encode(content).decode() for path, content in submission.files.items()}
    request = Request(
        task=task,
        files=files,
        problems=submission.problems,
        target=target,
        policy=policy,
        containment=containment,
    )
    return make_item_of(item_id, request)


def make_item_of(item_id: str, request: Request) -> WorkItem:
    """The item of a request that was made elsewhere."""
    return WorkItem(
        item_id=item_id,
        payload=request.model_dump(mode="json"),
        steps=(
            Step(tier=Tier.HOST, method="build", limit_s=BUILD_LIMIT_S),
            Step(tier=Tier.DEVICE, method="judge", limit_s=JUDGE_LIMIT_S),
        ),
        affinity=f"{request.target.value} {request.policy} {request.task.key}",
    )


class Evaluator:
    """Evaluates requests one after another, and keeps the last one's judge."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._cache = find_build_cache()
        self._setting: Setting | None = None
        self._judge: Judge | None = None
        self._stock: Stock | None = None
        self._sandboxes: dict[Containment, Sandbox] = {}
        self._product_ms = 0.0

    def probe(self, _payload: Mapping[str, Any]) -> Answer:
        """Whether this worker's device computes rightly, and as fast as at first; raises if not."""
        product_ms = min(measure_product() for _ in range(_PROBES))
        self._product_ms = self._product_ms or product_ms
        if product_ms > _SLOWER * self._product_ms:
            raise InfrastructureError(
                f"a matrix product takes {product_ms:.3g} ms, which took {self._product_ms:.3g} ms at first"
            )
        return Answer(value={"product_ms": product_ms})

    def build(self, payload: Mapping[str, Any]) -> Answer:
        """Rules and build; it is the last step for a submission that fails them."""
        evaluation = self._evaluate(payload, until=Stage.BUILD)
        return Answer(value=evaluation.model_dump(mode="json"), is_last=evaluation.failed_stage is not None)

    def judge(self, payload: Mapping[str, Any]) -> Answer:
        """Everything."""
        evaluation = self._evaluate(payload, until=Stage.PROFILE)
        found = (evaluation.verify, evaluation.profile)
        is_suspect = any(result is not None and result.status in SUSPECT for result in found)
        return Answer(value=evaluation.model_dump(mode="json"), is_suspect=is_suspect)

    def close(self) -> None:
        """End the judge, and the runners that wait for its next submissions."""
        self._stand_up()
        if self._stock is not None:
            self._stock.close()
            self._stock = None

    def _evaluate(self, payload: Mapping[str, Any], *, until: Stage) -> Evaluation:
        request = Request.model_validate(payload)
        submission = request.open_submission()
        setting, judge = self._sit(request)
        try:
            return evaluate(submission, setting=setting, judge=judge, until=until)
        except InfrastructureError:
            # Whatever state it was left in, the next one starts afresh.
            self.close()
            raise

    def _open_sandbox(self, containment: Containment) -> Sandbox:
        if containment not in self._sandboxes:
            self._sandboxes[containment] = build_sandbox(containment)
        return self._sandboxes[containment]

    def _sit(self, request: Request) -> tuple[Setting, Judge]:
        setting = Setting(
            task=request.task,
            target=request.target,
            sandbox=self._open_sandbox(request.containment),
            policy=load_policy(request.policy),
            cache=self._cache,
        )
        same = self._setting is not None and (
            (setting.task, setting.target, setting.policy)
            == (self._setting.task, self._setting.target, self._setting.policy)
        )
        if self._judge is None or not same:
            self._stand_up()
            self._setting, self._judge = setting, setting.open_judge(self._find_stock(setting))
        return setting, self._judge

    def _stand_up(self) -> None:
        if self._judge is not None:
            self._judge.close()
            self._judge = None

    def _find_stock(self, setting: Setting) -> Stock:
        """The one at hand, where it fits: a runner that waits serves any task."""
        wanted = (setting.target, setting.policy.precision)
        stock = self._stock
        if stock is not None and (
            stock.sandbox is not setting.sandbox or (stock.prepare.target, stock.prepare.precision) != wanted
        ):
            stock.close()
            stock = None
        runners, references = _AHEAD[setting.target]
        self._stock = stock or Stock(
            setting.target,
            sandbox=setting.sandbox,
            precision=setting.policy.precision,
            runners=runners,
            references=references,
        )
        return self._stock
