"""A step of PPO played through: who waits for what while many episodes share engines, builders and GPUs.

A discrete-event simulation. Episodes take turns: generate, then perhaps build (a core each) and evaluate (a
GPU each, alone). Engines share their speed among the episodes that generate; builders and GPUs serve in
order of arrival. Nothing is measured here; the durations come from outside.
"""

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cuda_agent.config import Record


@dataclass(frozen=True)
class PlayedTurn:
    """One turn of an episode to be played."""

    tokens: float
    """Tokens to generate."""
    build_s: float = 0.0
    """Core seconds to build; 0 when nothing is submitted."""
    evaluation_s: float = 0.0
    """GPU seconds to evaluate."""


class Waits(Record):
    """Where the mean episode's time goes, in seconds; the parts add up to the rollout's length."""

    generate: float
    """Generating."""
    build_queue: float
    """Waiting for a core."""
    build: float
    """Building."""
    evaluation_queue: float
    """Waiting for an evaluation GPU."""
    evaluation: float
    """Being evaluated."""
    others: float
    """Done, while others are not."""


class PlayedStep(Record):
    """What came of a simulated rollout."""

    rollout_s: float
    """Until the last episode ended."""
    waits: Waits
    """The mean episode's time."""
    gpu_share: float
    """Share of the evaluation GPUs' time that they evaluated."""
    core_share: float
    """Share of the build cores' time that they built."""


@dataclass
class _Servers:
    """So many equal servers with one line before them."""

    free: int
    line: deque[tuple[int, float, float]] = field(default_factory=deque)


class Rollout:
    """One rollout in the making."""

    def __init__(
        self,
        episodes: Sequence[Sequence[PlayedTurn]],
        *,
        tokens_per_s: Callable[[int], float],
        build_cores: int,
        eval_gpus: int,
    ) -> None:
        """`tokens_per_s` is the speed of one episode's generation while so many generate at once."""
        self._episodes = episodes
        self._tokens_per_s = tokens_per_s
        self._servers = {"build": _Servers(build_cores), "evaluation": _Servers(eval_gpus)}
        self._counts = {"build": build_cores, "evaluation": eval_gpus}
        self._at = [0] * len(episodes)
        self._now_s = 0.0
        self._said = 0.0
        """Tokens that an episode which has generated all the time would have."""
        self._speaking: list[tuple[float, int]] = []
        self._serving: list[tuple[float, int, str]] = []
        self._seconds = dict.fromkeys(Waits.model_fields, 0.0)

    def play(self) -> PlayedStep:
        """Let all episodes run to their ends."""
        for number in range(len(self._episodes)):
            self._speak(number)
        while self._speaking or self._serving:
            speed = self._tokens_per_s(len(self._speaking)) if self._speaking else 0.0
            spoken_s = self._now_s + (self._speaking[0][0] - self._said) / speed if speed else float("inf")
            served_s = self._serving[0][0] if self._serving else float("inf")
            self._pass_time(min(spoken_s, served_s), speed)
            if spoken_s <= served_s:
                self._end_speech(heapq.heappop(self._speaking)[1])
            else:
                _, number, what = heapq.heappop(self._serving)
                self._end_service(number, what)
        return self._sum_up()

    def _speak(self, number: int) -> None:
        if self._at[number] < len(self._episodes[number]):
            turn = self._episodes[number][self._at[number]]
            heapq.heappush(self._speaking, (self._said + turn.tokens, number))

    def _end_speech(self, number: int) -> None:
        if self._episodes[number][self._at[number]].build_s > 0:
            self._ask(number, "build")
        else:
            self._end_turn(number)

    def _end_service(self, number: int, what: str) -> None:
        servers = self._servers[what]
        servers.free += 1
        if servers.line:
            waiting, since_s, duration_s = servers.line.popleft()
            self._seconds[f"{what}_queue"] += self._now_s - since_s
            self._serve(waiting, what, duration_s=duration_s)
        if what == "build" and self._episodes[number][self._at[number]].evaluation_s > 0:
            self._ask(number, "evaluation")
        else:
            self._end_turn(number)

    def _end_turn(self, number: int) -> None:
        self._at[number] += 1
        self._speak(number)

    def _ask(self, number: int, what: str) -> None:
        turn, servers = self._episodes[number][self._at[number]], self._servers[what]
        duration_s = turn.build_s if what == "build" else turn.evaluation_s
        if servers.free:
            self._serve(number, what, duration_s=duration_s)
        else:
            servers.line.append((number, self._now_s, duration_s))

    def _serve(self, number: int, what: str, *, duration_s: float) -> None:
        self._servers[what].free -= 1
        self._seconds[what] += duration_s
        heapq.heappush(self._serving, (self._now_s + duration_s, number, what))

    def _pass_time(self, until_s: float, speed: float) -> None:
        passed_s = until_s - self._now_s
        self._said += passed_s * speed
        self._seconds["generate"] += passed_s * len(self._speaking)
        self._now_s = until_s

    def _sum_up(self) -> PlayedStep:
        count, rollout_s = len(self._episodes), self._now_s
        means = {name: seconds / count for name, seconds in self._seconds.items()}
        means["others"] = rollout_s - sum(means.values())
        shares = {
            what: self._seconds[what] / (rollout_s * servers) if rollout_s else 0.0
            for what, servers in self._counts.items()
        }
        return PlayedStep(
            rollout_s=rollout_s,
            waits=Waits(**means),
            gpu_share=shares["evaluation"],
            core_share=shares["build"],
        )
