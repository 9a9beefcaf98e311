"""Does a submission keep the rules: what may be imported, called and included.

Rules on sources keep honest work honest: they say at once, with file, line and reason, what a kernel is
expected to do itself. They are one defence of several; the built library's symbols, the check at run
time and the sandbox stand behind them.
"""

import ast
import io
import tokenize
from collections.abc import Sequence

from cuda_agent.environment.compilers import SOURCE_SUFFIXES
from cuda_agent.environment.cpp_macros import find_pragma_macros
from cuda_agent.environment.result import RulesResult, RulesStatus, Violation
from cuda_agent.environment.rules_cpp import check_cpp
from cuda_agent.environment.rules_python import check_python
from cuda_agent.environment.submission import MODEL_FILE, Submission
from cuda_agent.tasks.target import Target

UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def check_rules(submission: Submission, target: Target) -> RulesResult:
    """Check every file; nothing of the submission is run."""
    problems = (*submission.problems, *_check_files(submission, target))
    if problems:
        return _report(RulesStatus.BAD_FILES, problems)
    texts = {path: content.decode("utf-8") for path, content in submission.files.items()}
    try:
        _refuse_coding_cookie(submission.files[MODEL_FILE])
        tree = ast.parse(texts[MODEL_FILE])
        violations = list(check_python(tree, MODEL_FILE))
    except UNPARSABLE as error:
        return _report(RulesStatus.SYNTAX_ERROR, [_explain_unparsable(error)])
    own = frozenset(texts) - {MODEL_FILE}
    macros = find_pragma_macros(texts[path] for path in own)
    for path in sorted(own):
        violations += check_cpp(
            texts[path],
            path,
            target=target,
            own_files=own,
            pragma_macros=macros,
            needs_torch=submission.needs_torch,
        )
    if violations:
        return _report(RulesStatus.VIOLATION, violations)
    return RulesResult(status=RulesStatus.OK)


def _refuse_coding_cookie(source: bytes) -> None:
    """A cookie for another encoding would make other readers see other code than we do."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    if encoding not in ("utf-8", "utf-8-sig"):
        raise SyntaxError(f"its encoding is declared as {encoding}: write UTF-8, without a coding comment")


def _explain_unparsable(error: BaseException) -> Violation:
    line, cause = 0, str(error) or type(error).__name__
    if isinstance(error, SyntaxError):
        line, cause = error.lineno or 0, error.msg
    return Violation(file=MODEL_FILE, line=line, rule="syntax", reason=f"it does not parse: {cause}")


def _check_files(submission: Submission, target: Target) -> list[Violation]:
    found = []
    if MODEL_FILE not in submission.files and not submission.problems:
        found.append((MODEL_FILE, f"there is no {MODEL_FILE}: write it, with a class ModelNew"))
    for path, content in submission.files.items():
        if b"\0" in content or not _is_text(content):
            found.append((path, "it is not UTF-8 text: write it anew"))
        elif path.endswith(".cu") and ".cu" not in SOURCE_SUFFIXES[target]:
            found.append((path, f"the target is {target.value}: write C++ in a .cpp file"))
    return [Violation(file=path, line=0, rule="files", reason=reason) for path, reason in found]


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _report(status: RulesStatus, violations: Sequence[Violation]) -> RulesResult:
    count = len(violations)
    reason = "1 rule is broken" if count == 1 else f"{count} rules are broken"
    if status is not RulesStatus.VIOLATION:
        reason = f"{violations[0].file}: {violations[0].reason}"
    return RulesResult(status=status, reason=reason, violations=tuple(violations))
