"""The expert as a chat model: it says what it does and acts through the same tools as any other."""

import hashlib

from cuda_agent.expert.explain import explain_plan
from cuda_agent.expert.observation import parse_outcome
from cuda_agent.expert.request import Request, parse_request
from cuda_agent.expert.study import SOURCES, Study, StudyError, study_task
from cuda_agent.expert.template import load_template
from cuda_agent.expert.tune import Outcome, build_variants, find_best, is_done
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, ToolSchema
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target

PROFILE = "cuda-agent profile"
SUBMIT = "cuda-agent submit"
BRIEF_TRIES = 2
"""How many variants are tried where few words are wanted: each costs hundreds of tokens."""


class ExpertChat:
    """Answers from the conversation alone, so that a recorded episode can be continued or replayed.

    Each variant of the plan is one turn: it writes the files and profiles. The observations so far decide
    what comes next: another variant, the submission of the best, or the end.
    """

    def __init__(self, *, sandbox: Sandbox, target: Target, tries: int = 6) -> None:
        """Trace in `sandbox`, write kernels for `target`, try so many variants at most."""
        self._sandbox = sandbox
        self._target = target
        self._tries = tries
        self._studies: dict[str, Study | StudyError] = {}

    @property
    def name(self) -> str:
        """How run folders and tables name this policy."""
        return "expert"

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """Answer the conversation; the tools are those of an episode, so they need no reading."""
        request = parse_request(messages)
        if request is None:
            return self._say("give_up", messages, reason="no reference under the heading `## model.py`")
        study = self._study(request)
        if isinstance(study, StudyError):
            return self._say("give_up", messages, reason=str(study))
        if request.is_brief:
            return self._go_on_briefly(study, messages, is_single=request.is_single)
        submitted = find_answers(messages, SUBMIT)
        outcomes = tuple(parse_outcome(text) for text in find_answers(messages, PROFILE))
        if submitted:
            return self._say("finish", messages, outcome=parse_outcome(submitted[-1]))
        return self._go_on(study, outcomes, messages=messages)

    def _go_on_briefly(self, study: Study, messages: tuple[Message, ...], *, is_single: bool) -> Reply:
        """As `_go_on`, in few words: at most two variants, no headers and no comments; or files alone."""
        if find_answers(messages, SUBMIT):
            return Reply(message=Message(role=Role.ASSISTANT, content="Done."))
        outcomes = tuple(parse_outcome(text) for text in find_answers(messages, PROFILE))
        variants = build_variants(self._target, lambda choice: study.write_kernels(choice, is_brief=True))
        place = len(outcomes)
        if not is_done(outcomes, variants=len(variants), tries=min(self._tries, BRIEF_TRIES)):
            files = study.write_files(variants[place], is_first=place == 0, is_brief=True)
            return self._call(messages, files, command="" if is_single else PROFILE)
        best = find_best(outcomes)
        if best is None:
            return Reply(message=Message(role=Role.ASSISTANT, content="Failed."))
        source = study.write_kernels(variants[best], is_brief=True)
        files = {} if best == place - 1 else {SOURCES[self._target]: source}
        return self._call(messages, files, command=SUBMIT)

    def _study(self, request: Request) -> Study | StudyError:
        key = hashlib.sha256(f"{request.precision}\n{request.source}".encode()).hexdigest()
        if key not in self._studies:
            try:
                self._studies[key] = study_task(
                    self._sandbox, request.source, target=self._target, precision=request.precision
                )
            except StudyError as error:
                self._studies[key] = error
        return self._studies[key]

    def _go_on(self, study: Study, outcomes: tuple[Outcome, ...], *, messages: tuple[Message, ...]) -> Reply:
        variants = build_variants(self._target, study.write_kernels)
        if not is_done(outcomes, variants=len(variants), tries=self._tries):
            place = len(outcomes)
            files = study.write_files(variants[place], is_first=place == 0)
            page, last = ("begin", None) if place == 0 else ("next", outcomes[-1])
            return self._act(
                page,
                messages,
                files=files,
                command=PROFILE,
                values={"study": study, "choice": variants[place], "last": last, "explain": explain_plan},
            )
        best = find_best(outcomes)
        if best is None:
            return self._say("give_up", messages, reason=f"no variant passed: {outcomes[-1].failure}")
        is_written = best == len(outcomes) - 1
        files = {} if is_written else {SOURCES[self._target]: study.write_kernels(variants[best])}
        values = {"outcome": outcomes[best], "choice": variants[best], "tried": len(outcomes)}
        return self._act("submit", messages, files=files, command=SUBMIT, values=values)

    def _say(self, page: str, messages: tuple[Message, ...], **values: object) -> Reply:
        """A reply without a tool call, which ends the episode."""
        return Reply(
            message=Message(role=Role.ASSISTANT, content=load_template(f"{page}.md.jinja", **values))
        )

    def _act(
        self,
        page: str,
        messages: tuple[Message, ...],
        *,
        files: dict[str, str],
        command: str,
        values: dict[str, object],
    ) -> Reply:
        """A reply that says what it does, writes files and runs a command."""
        text = load_template(f"{page}.md.jinja", **values)
        return self._call(messages, files, command=command, content=text)

    def _call(
        self, messages: tuple[Message, ...], files: dict[str, str], *, command: str, content: str = ""
    ) -> Reply:
        """A reply that writes files, and runs a command unless that is empty."""
        turn = sum(message.role is Role.ASSISTANT for message in messages)
        wanted: list[tuple[str, dict[str, str]]] = [
            ("edit", {"command": "create", "path": path, "file_text": text}) for path, text in files.items()
        ]
        wanted += [("bash", {"command": command})] if command else []
        calls = tuple(
            ToolCall(id=f"call-{turn}-{place}", name=name, arguments=dict(arguments))
            for place, (name, arguments) in enumerate(wanted)
        )
        return Reply(message=Message(role=Role.ASSISTANT, content=content, tool_calls=calls))


def find_answers(messages: tuple[Message, ...], command: str) -> list[str]:
    """What the tool answered each time the expert ran `command`."""
    answers = {m.tool_call_id: m.content for m in messages if m.role is Role.TOOL}
    return [
        answers[call.id]
        for message in messages
        for call in message.tool_calls
        if call.name == "bash" and (call.arguments or {}).get("command") == command and call.id in answers
    ]
