"""Episodes of a policy in the real environment, for training.

A rollout keeps its episodes in a folder of its own, named by its seed: one that was killed goes on with
what is missing, and a step that is taken again after a resume finds the episodes it had.
"""

import logging
from collections import Counter
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import NonNegativeInt, PositiveInt

from cuda_agent.agent.episode import EpisodeConfig, Host, run_episode
from cuda_agent.agent.interruption import Interruption
from cuda_agent.agent.job import Attempt
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import StopReason, Trajectory
from cuda_agent.agent.verdicts import build_admission
from cuda_agent.config import Config, Record
from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.judge.lease import Lease, name_device
from cuda_agent.rl.batch import build_sequence
from cuda_agent.rl.conversations import Conversations
from cuda_agent.rl.decoder import Decoder
from cuda_agent.rl.order import derive_seed
from cuda_agent.rl.policy import Policy
from cuda_agent.rl.tokenizer import build_template
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.task import Task

COUNTS = "counts.json"
"""Where a rollout keeps what became of its episodes."""

_logger = logging.getLogger(__name__)


class Loss(StrEnum):
    """Why an episode is no sample."""

    TASK_AT_FAULT = "task_at_fault"
    """Its task is not judged, so its reward says nothing of the policy."""
    NOTHING_SAMPLED = "nothing_sampled"
    """There was no reply, because the task leaves no room for one."""
    NOT_ONE_SEQUENCE = "not_one_sequence"
    """A prompt did not go on from the one before: old output was left out for want of room."""
    INFRASTRUCTURE = "infrastructure"
    """The machine failed at every try."""


class RolloutCounts(Record):
    """What became of a rollout's episodes."""

    episodes: int
    """How many were asked for."""
    samples: int
    """How many came back."""
    losses: dict[Loss, int]
    """The others, by reason."""


class RolloutOptions(Config):
    """How many episodes are held at once, and how often the machine may fail."""

    concurrency: PositiveInt = 16
    """Episodes held at once; each has a place in the decoder's memory."""
    retries: NonNegativeInt = 2
    """How often an episode is begun anew when the machine failed."""


class RolloutJob(Config):
    """Everything that a rollout's samples follow from, but for the weights."""

    episode: EpisodeConfig
    """How each is held."""
    tasks: tuple[Task, ...]
    """The tasks, as often as they are met."""
    seed: int
    """Of all that is sampled."""


@dataclass(frozen=True, kw_only=True)
class EpisodeRollout:
    """Holds a policy's episodes, as `Rollout` in `ppo` asks for them; single answers too, by the prompt."""

    episode: EpisodeConfig
    """How each is held. Its limit of tokens is the decoder's window; its own policy is not used."""
    sandbox: Sandbox
    """How untrusted commands are contained."""
    folder: Path
    """Each rollout has a folder in it."""
    options: RolloutOptions
    """How many at once."""

    def __call__(self, policy: Policy, tasks: Sequence[Task], *, seed: int) -> list[Trajectory]:
        """One episode for each task, in their order, but for those that are no samples.

        Raises:
            UserError: the policy cannot chat, or the folder holds another rollout of this seed.
        """
        job = RolloutJob(episode=self.episode, tasks=tuple(tasks), seed=seed)
        attempts = number_attempts(tasks)
        with _open(self.folder / f"{seed:x}", job) as run:
            held = {(each.task_id, each.episode): each for each in run.read(TRAJECTORIES, Trajectory)}
            missing = [attempt for attempt in attempts if attempt.key not in held]
            # Closed at once when something is raised here, so that nobody works on for nothing.
            with closing(self._hold_all(missing, policy, run=run, seed=seed)) as ended:
                held |= {(each.task_id, each.episode): each for each in ended}
            samples, losses = [], Counter[Loss]()
            for attempt in attempts:
                trajectory = held.get(attempt.key)
                loss = find_loss(trajectory)
                if trajectory is None or loss is not None:
                    losses[loss or Loss.INFRASTRUCTURE] += 1
                else:
                    samples.append(trajectory)
            counts = RolloutCounts(episodes=len(attempts), samples=len(samples), losses=dict(losses))
            run.write_text(COUNTS, counts.model_dump_json(indent=1))
        if losses:
            said = ", ".join(f"{count} {loss.value}" for loss, count in losses.items())
            _logger.warning("%d of %d episodes are no samples: %s", losses.total(), len(attempts), said)
        return samples

    def _hold_all(
        self, attempts: Sequence[Attempt], policy: Policy, *, run: RunDir, seed: int
    ) -> Generator[Trajectory, None, None]:
        """The episodes as they end, without those for which the machine failed at every try."""
        if not attempts:
            return
        conversations = self._build_conversations(policy, slots=min(self.options.concurrency, len(attempts)))
        interruption, admission = Interruption(), build_admission(self.episode.verdicts)

        def hold(attempt: Attempt) -> Trajectory | None:
            for tried in range(1 + self.options.retries):
                own_seed = derive_seed("episode", seed, *attempt.key)
                try:
                    with conversations.open(own_seed) as chat:
                        host = Host(
                            chat=chat,
                            config=self.episode,
                            sandbox=self.sandbox,
                            run=run,
                            interruption=interruption,
                            admission=admission,
                        )
                        return run_episode(attempt.task, attempt.number, host=host, on_turn=lambda _: None)
                except InfrastructureError as error:
                    _logger.warning("%s: %s (try %d)", attempt.task.name, error, tried + 1)
            return None

        pool = ThreadPoolExecutor(self.options.concurrency, thread_name_prefix="rollout")
        try:
            for future in as_completed([pool.submit(hold, attempt) for attempt in attempts]):
                if (trajectory := future.result()) is not None:
                    yield trajectory
        finally:
            interruption.set()
            pool.shutdown(cancel_futures=True)

    def _build_conversations(self, policy: Policy, *, slots: int) -> Conversations:
        limits = self.episode.limits
        if policy.tokenizer is None:
            raise UserError("this policy has no tokenizer, so it cannot hold episodes: train one first")
        template = build_template(policy.tokenizer)
        window = min(limits.total_tokens, policy.model.config.max_position_embeddings)
        return Conversations(
            Decoder(
                policy.model,
                end_ids=(policy.tokenizer.eos_token_id,),
                slots=slots,
                window_tokens=window,
            ),
            template,
            name="local",
            slots=slots,
            reply_tokens=limits.reply_tokens,
            while_stepping=self._share_device if self._is_shared(policy) else nullcontext,
        )

    def _is_shared(self, policy: Policy) -> bool:
        """Whether kernels are timed where the policy computes."""
        return policy.model.device.type == self.episode.target.value

    def _share_device(self) -> AbstractContextManager[None]:
        """While tokens are sampled nothing is timed, and the other way round."""
        return Lease(name_device(self.episode.target)).share()


def number_attempts(tasks: Sequence[Task]) -> list[Attempt]:
    """An attempt for each task, those of the same one numbered from 0."""
    seen = Counter[str]()
    attempts = []
    for task in tasks:
        attempts.append(Attempt(task, seen[task.task_id]))
        seen[task.task_id] += 1
    return attempts


def find_loss(trajectory: Trajectory | None) -> Loss | None:
    """Why an episode is no sample; None for one that is. Nobody was able to hold one that is missing."""
    if trajectory is None:
        return Loss.INFRASTRUCTURE
    if fault := find_fault(trajectory):
        return fault
    if not trajectory.turns:
        return Loss.NOTHING_SAMPLED
    try:
        sequence = build_sequence(trajectory)
    except UserError as error:
        _logger.info("%s", error)
        return Loss.NOT_ONE_SEQUENCE
    assert sequence.is_generated[-1], "an episode ends on a token that was sampled"
    return None


def find_fault(trajectory: Trajectory) -> Loss | None:
    """What but the policy decided how an episode ended: the machine or the task; None where neither did."""
    if is_machine_at_fault(trajectory):
        return Loss.INFRASTRUCTURE
    if trajectory.final is not None and trajectory.final.is_task_at_fault:
        return Loss.TASK_AT_FAULT
    return None


def is_machine_at_fault(trajectory: Trajectory) -> bool:
    """Whether an episode ended because the policy's machine failed, after every retry."""
    is_failed = trajectory.stop_reason is StopReason.POLICY_ERROR
    return is_failed and trajectory.stop_detail.startswith(InfrastructureError.__name__)


def _open(place: Path, job: RolloutJob) -> RunDir:
    return RunDir.resume(place, job) if place.exists() else RunDir.create(place, job)
