"""An evaluator that looks at no source or symbol, so that faults which those would stop reach the judge."""

from cuda_agent.environment.evaluator import Evaluator, Request
from cuda_agent.environment.result import Evaluation, Stage
from tests.judge_cases import without_static_checks


class Unchecked(Evaluator):
    """Lets everything run that can be built."""

    def _evaluate(self, request: Request, *, until: Stage) -> Evaluation:
        with without_static_checks():
            return super()._evaluate(request, until=until)
