"""An exported package: what it holds, that it works without us, and that its test can fail."""

import ast
import json
import os
import re
import site
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cuda_agent.environment.export import Exported, build_import_name, export_package
from cuda_agent.environment.submission import Submission
from cuda_agent.environment.winner import Winner
from cuda_agent.errors import UserError
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.kernelbench import load_task
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.evaluations import build_passed
from tests.judge_cases import HONEST, find_task, freeze_case, load_case

INSTALL_S = 600
COMMAND = "cuda-agent export 'runs/a `b`' kernel"


@pytest.fixture
def winner(tiny_task: Task, submission: Submission) -> Winner:
    return Winner(tiny_task, submission, build_passed(tiny_task, submission))


@pytest.fixture
def exported(tmp_path: Path, winner: Winner, plain_sandbox: Sandbox) -> Exported:
    return export_package(winner, tmp_path / "made", sandbox=plain_sandbox, command=COMMAND)


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("relu", "kernel_relu"),
        ("19_ReLU", "kernel_19_relu"),
        ("class", "kernel_class"),
        ("a.b-c__d", "kernel_a_b_c_d"),
        ("___", "kernel_task"),
    ],
)
def test_a_task_becomes_an_import_name(task: str, name: str) -> None:
    assert build_import_name(task) == name


def test_a_package_holds_all_it_needs(exported: Exported, winner: Winner) -> None:
    package = exported.folder / "src" / "kernel_tiny"
    assert {path.name for path in exported.folder.iterdir()} == {
        "README.md", "evaluation.json", "pyproject.toml", "src", "tests",
    }  # fmt: skip
    assert (package / "model.py").read_text() == winner.task.source
    assert "\nfrom . import kernels\n" in (package / "model_new.py").read_text()
    assert (package / "kernels" / "relu_scale.cpp").read_bytes() == winner.submission.files[
        "kernels/relu_scale.cpp"
    ]
    assert (package / "prebuilt" / "kernels.so").read_bytes()[:4] == b"\x7fELF"
    assert "instructions" in json.loads((package / "prebuilt" / "machine.json").read_text())
    assert json.loads((package / "recipe.json").read_text())["units"] == ["kernels/relu_scale.cpp"]
    project = tomllib.loads((exported.folder / "pyproject.toml").read_text())["project"]
    assert project["name"] == "kernel-tiny"
    assert project["version"] == f"1.0.0+{winner.submission.sha}"
    assert [re.split("[>=]", name)[0] for name in project["dependencies"]] == ["torch", "apache-tvm-ffi"]
    for path in exported.folder.rglob("*.py"):
        names = {
            alias.name if isinstance(node, ast.Import) else node.module or ""
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not {name for name in names if name.startswith("cuda_agent")}, path


def test_a_readme_has_the_measured_times(exported: Exported) -> None:
    text = (exported.folder / "README.md").read_text()
    assert "| this kernel | 1.5000 ms |  |\n" in text
    assert "| torch.compile | 3.0000 ms | 2.00x (1.90x to 2.10x) |\n" in text
    assert "On Some Processor, 2 cores. Versions: torch 2.13.0. Judge policy `strict`" in text
    assert f"\n{COMMAND}\n" in text


def test_a_full_folder_is_left_alone(tmp_path: Path, winner: Winner, plain_sandbox: Sandbox) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        export_package(winner, tmp_path, sandbox=plain_sandbox, command=COMMAND)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_what_does_not_build_leaves_nothing(tmp_path: Path, tiny_task: Task, plain_sandbox: Sandbox) -> None:
    broken = Submission({"model_new.py": b"import kernels\n", "kernels/a.cpp": b"int a\n"})
    winner = Winner(tiny_task, broken, build_passed(tiny_task, broken))
    with pytest.raises(UserError, match=r"do not build on this machine: kernels/a\.cpp does not compile"):
        export_package(winner, tmp_path / "made", sandbox=plain_sandbox, command=COMMAND)
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_form_is_no_package(tmp_path: Path, tiny_task: Task, plain_sandbox: Sandbox) -> None:
    foreign = Submission({"model_new.py": b"import cuda_extension\n", "kernels/a.cpp": b"int a;\n"})
    winner = Winner(tiny_task, foreign, build_passed(tiny_task, foreign))
    with pytest.raises(UserError, match=r"bind them with cuda_agent/kernel\.h"):
        export_package(winner, tmp_path / "made", sandbox=plain_sandbox, command=COMMAND)
    assert list(tmp_path.iterdir()) == []


class Shop:
    """A fresh virtual environment that sees the packages of this one, and a user's cache of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True)
        self._python = folder / "venv" / "bin" / "python"
        (place,) = (folder / "venv" / "lib").glob("python*/site-packages")
        (place / "outer.pth").write_text("\n".join(site.getsitepackages()))
        self.cache = folder / "cache"

    def install(self, package: Path) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self._python), "install", "--quiet"]
        flags = ["--no-deps", "--no-build-isolation", "--no-index", "--force-reinstall"]
        subprocess.run([*pip, *flags, str(package)], check=True, timeout=INSTALL_S)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self._folder), "XDG_CACHE_HOME": str(self.cache)}
        command = [str(self._python), "-P", *arguments]
        return subprocess.run(
            command, env=env, cwd=self._folder, capture_output=True, text=True, timeout=INSTALL_S, check=False
        )


def make_case(name: str, *, task_name: str = "") -> Winner:
    """An honest kernel of the corpus with the task that it is for."""
    case = load_case(HONEST / name)
    task = load_task(find_task(case.task))
    task = Task(name=task_name or task.name, source=task.source)
    submission = freeze_case(case, Target.CPU)
    return Winner(task, submission, build_passed(task, submission))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_an_installed_package_passes_its_own_test(tmp_path: Path, plain_sandbox: Sandbox) -> None:
    """Weights that are packed, two packages side by side, and a machine that the library does not fit."""
    shop = Shop(tmp_path)
    linear, two = make_case("lazy_packing"), make_case("input_given_back", task_name='2 "Outputs" {{ 1 }}')
    first = export_package(linear, tmp_path / "first", sandbox=plain_sandbox, command=COMMAND)
    second = export_package(two, tmp_path / "second", sandbox=plain_sandbox, command=COMMAND)
    for made in (first, second):
        shop.install(made.folder)
        done = shop.run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(made.folder / "tests"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert "5 passed" in done.stdout
    program = (
        f"import sys, {first.import_name} as a, {second.import_name} as b; "
        "print(a.ModelNew is not b.ModelNew, 'kernels' in sys.modules, 'cuda_agent' in sys.modules)"
    )
    assert shop.run("-c", program).stdout.split() == ["True", "False", "False"]
    assert not shop.cache.exists(), "the library that came along fits this machine"

    described = first.folder / "src" / first.import_name / "prebuilt" / "machine.json"
    facts = json.loads(described.read_text())
    described.write_text(json.dumps({**facts, "instructions": [*facts["instructions"], "avx4096"]}))
    shop.install(first.folder)
    told = shop.run("-m", first.import_name, "3", "4")
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stdout.startswith("built here (this processor lacks avx4096): ")
    assert told.stdout.count("right, largest error") == 2
    assert len(list(shop.cache.rglob("kernels.so"))) == 1


BREAKS = {
    "a weight left out": ("sum[u] = b[u]", "sum[u] = 0"),
    "a last row left out": ("row < rows; ++row", "row < rows - 1; ++row"),
    "half precision": (
        "sum[u] += value * w[k * units + u]",
        "sum[u] += (float)(_Float16)(value * w[k * units + u])",
    ),
}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_broken_kernel_fails_the_packages_test(tmp_path: Path, plain_sandbox: Sandbox) -> None:
    shop = Shop(tmp_path)
    winner = make_case("lazy_packing")
    path = next(path for path in winner.submission.files if path.endswith(".cpp"))
    for name, (right, wrong) in BREAKS.items():
        text = winner.submission.files[path].decode()
        assert right in text
        broken = Submission({**winner.submission.files, path: text.replace(right, wrong).encode()})
        made = export_package(
            Winner(winner.task, broken, build_passed(winner.task, broken)),
            tmp_path / name.replace(" ", "-"), sandbox=plain_sandbox, command=COMMAND,
        )  # fmt: skip
        shop.install(made.folder)
        done = shop.run("-m", made.import_name)
        assert done.returncode == 1, f"{name}: {done.stdout}{done.stderr}"
        assert "elements differ" in done.stdout
