"""Which tasks are judged."""

from cuda_agent.judge.result import TaskResult, TaskStatus


def test_a_flagged_task_is_judged_and_a_faulty_one_is_not() -> None:
    judged = {status for status in TaskStatus if TaskResult(status=status).is_judged}
    assert judged == {TaskStatus.OK, TaskStatus.FLAGGED}
