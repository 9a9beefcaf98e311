"""Jobs are done, failures are raised where the result is asked for, and nobody is waited for in the end."""

import subprocess
import sys

import pytest

from cuda_agent.synthesis.crew import Crew
from cuda_agent.synthesis.fate import Fate
from tests.synthesis.conftest import make_candidate


def fail() -> Fate:
    raise ValueError("no device")


def test_jobs_are_done_and_failures_are_raised() -> None:
    crew = Crew(2)
    fates = [Fate(candidate=make_candidate(number=number)) for number in range(5)]
    futures = [crew.submit(lambda fate=fate: fate) for fate in fates]  # type: ignore[misc]
    failed = crew.submit(fail)
    assert [future.result(timeout=30.0) for future in futures] == fates
    with pytest.raises(ValueError, match="no device"):
        failed.result(timeout=30.0)
    crew.close()


def test_a_thread_that_waits_for_ever_does_not_keep_python_from_ending() -> None:
    program = (
        "import threading\n"
        "from cuda_agent.synthesis.crew import Crew\n"
        "crew, begun = Crew(1), threading.Event()\n"
        "crew.submit(lambda: begun.set() or threading.Event().wait())\n"
        "begun.wait()\n"
        "crew.close()\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=120.0).returncode == 0
