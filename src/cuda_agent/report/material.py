"""What the pages are made of: everything that was found in the given folders and files."""

from pydantic import JsonValue

from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.bench.record import BenchRecord
from cuda_agent.config import Record
from cuda_agent.environment.result import Evaluation
from cuda_agent.report.judged import CaseResult, Race, TimedEvaluation
from cuda_agent.synthesis.fate import Fate


class SavedRun(Record):
    """A run's folder, as its configuration tells of it."""

    name: str
    """The folder's name."""
    digest: str
    """The configuration's digest."""
    verb: str
    """What made it: `run`, `bench`, `synth`, or empty where that is not known."""
    config: dict[str, JsonValue]
    """The configuration."""


class EpisodeFound(Record):
    """A finished episode with the files that it handed in."""

    run: str
    """The run's name."""
    trajectory: Trajectory
    """What happened."""
    files: dict[str, str] = {}
    """Text of the submission that counts, by path; empty where the run did not keep it."""
    step: int | None = None
    """The step of training that met it; None outside of training."""
    sample: int = 0
    """Which of a training run's samples it is, from 0: one step may meet a task several times."""


class EpisodeUnderWay(Record):
    """An episode that goes on, or was interrupted."""

    run: str
    """The run's name."""
    name: str
    """Task id and number."""
    turns: tuple[Turn, ...]
    """Its turns so far."""


class EvaluationFound(Record):
    """An evaluation that was kept by itself."""

    run: str
    """The folder or file it lay in."""
    evaluation: Evaluation
    """What the judge found."""


class BenchFound(Record):
    """Tries at tasks, one policy's or several."""

    run: str
    """Where they lay."""
    records: tuple[BenchRecord, ...]
    """The tries."""


class Synthesis(Record):
    """A run that made tasks."""

    run: str
    """The run's name."""
    fates: tuple[Fate, ...]
    """What became of each candidate."""


class Training(Record):
    """A training run's figures."""

    run: str
    """The run's name."""
    steps: tuple[dict[str, float], ...]
    """One entry a step, by the figure's name; a figure that a step lacks is absent."""
    stages: tuple[str, ...]
    """The stage of each step; empty where it was not written down."""


class Throughput(Record):
    """Evaluations in bulk."""

    run: str
    """The file they lay in."""
    evaluations: tuple[TimedEvaluation, ...]
    """In the order in which they were done."""


class Material(Record):
    """Everything that was found. What is empty was not there."""

    runs: tuple[SavedRun, ...] = ()
    """Folders of runs."""
    episodes: tuple[EpisodeFound, ...] = ()
    """Finished episodes."""
    under_way: tuple[EpisodeUnderWay, ...] = ()
    """Unfinished ones."""
    evaluations: tuple[EvaluationFound, ...] = ()
    """Evaluations outside runs."""
    benches: tuple[BenchFound, ...] = ()
    """Benchmarks."""
    syntheses: tuple[Synthesis, ...] = ()
    """Task syntheses."""
    trainings: tuple[Training, ...] = ()
    """Training runs."""
    cases: tuple[CaseResult, ...] = ()
    """What the judge made of known cheats and honest kernels."""
    races: tuple[Race, ...] = ()
    """The reference against itself."""
    throughputs: tuple[Throughput, ...] = ()
    """Evaluations in bulk."""
    left_out: tuple[str, ...] = ()
    """Files that were seen and are on no page, each with the reason."""
