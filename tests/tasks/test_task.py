"""A task is known by its content."""

import hashlib

from cuda_agent.tasks.task import Task


def test_the_key_is_the_contents_hash() -> None:
    task = Task(name="relu", source="größe = 1\n")
    assert task.key == hashlib.sha256("größe = 1\n".encode()).hexdigest()[:16]
    assert task.task_id == f"relu-{task.key[:8]}"


def test_the_name_does_not_change_the_key_and_the_content_does() -> None:
    task = Task(name="relu", source="a")
    assert Task(name="other", source="a").key == task.key
    assert Task(name="relu", source="a ").key != task.key
