"""An evaluator that looks at no source or symbol, so that faults which those would stop reach the judge."""

from collections.abc import Mapping
from typing import Any

from cuda_agent.environment.evaluator import Evaluator
from cuda_agent.environment.result import Evaluation, Stage
from tests.judge_cases import without_static_checks


class Unchecked(Evaluator):
    """Lets everything run that can be built."""

    def _evaluate(self, payload: Mapping[str, Any], *, until: Stage) -> Evaluation:
        with without_static_checks():
            return super()._evaluate(payload, until=until)
