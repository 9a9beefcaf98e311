"""Edits are shown as what they changed."""

from pydantic import JsonValue

from cuda_agent.agent.file_history import FileHistory
from cuda_agent.llm.chat import ToolCall


def edit(history: FileHistory, answer: str = "ok", **arguments: JsonValue) -> list[str]:
    return history.apply(ToolCall(id="c", name="edit", arguments={"path": "a.cpp", **arguments}), answer)


def test_a_new_file_is_all_new_and_a_second_version_shows_what_changed() -> None:
    history = FileHistory()
    assert edit(history, command="create", file_text="a\nb\n") == ["@@ -0,0 +1,2 @@", "+a", "+b"]
    changed = ["@@ -1,2 +1,2 @@", " a", "-b", "+c"]
    assert edit(history, command="create", file_text="a\nc\n") == changed


def test_replacing_and_inserting_follow_the_file() -> None:
    history = FileHistory()
    edit(history, command="create", file_text="one\ntwo\n")
    replaced = edit(history, command="str_replace", old_str="two", new_str="2")
    assert replaced == ["@@ -1,2 +1,2 @@", " one", "-two", "+2"]
    inserted = edit(history, command="insert", insert_line=1, insert_text="half\n")
    assert inserted == ["@@ -1,2 +1,3 @@", " one", "+half", " 2"]


def test_of_a_file_that_a_shell_wrote_only_the_named_part_is_known() -> None:
    history = FileHistory()
    assert edit(history, command="str_replace", old_str="x\ny", new_str="z") == ["-x", "-y", "+z"]
    assert edit(history, command="insert", insert_line=3, insert_text="w\n") == ["+w"]


def test_what_changed_nothing_is_no_diff() -> None:
    history = FileHistory()
    assert edit(history, command="view") == []
    assert edit(history, "error: read-only", command="create", file_text="a") == []
    assert history.apply(ToolCall(id="c", name="bash", arguments={"command": "create"}), "") == []
    assert history.apply(ToolCall(id="c", name="edit", arguments=None), "") == []
