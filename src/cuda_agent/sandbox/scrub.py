"""The environment of an untrusted command: built from nothing, so nothing of ours can leak into it."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from cuda_agent.sandbox.system import (
    DRIVER_FOLDERS,
    find_cuda_root,
    find_package_folder,
    find_python_prefixes,
)


def build_environment(env: Mapping[str, str], *, home: Path, gpu: bool) -> dict[str, str]:
    """The whole environment: fixed names first, then what the command asks for.

    `home` is the private writable folder that becomes HOME and TMPDIR. USER is set because libraries
    ask for a user name, and the command's user has no entry in any password file.
    """
    fixed = {
        "PATH": os.pathsep.join(str(folder) for folder in _find_path_folders()),
        "HOME": str(home),
        "TMPDIR": str(home),
        "USER": "sandbox",
        "LOGNAME": "sandbox",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    cuda = find_cuda_root()
    if cuda is not None:
        fixed["CUDA_HOME"] = str(cuda)
    package = find_package_folder()
    if not any(package.is_relative_to(prefix) for prefix in find_python_prefixes()):
        fixed["PYTHONPATH"] = str(package.parent)
    drivers = [str(folder) for folder in DRIVER_FOLDERS if folder.is_dir()]
    if gpu and drivers:
        fixed["LD_LIBRARY_PATH"] = os.pathsep.join(drivers)
    return {**fixed, **env}


def _find_path_folders() -> list[Path]:
    folders = [Path(sys.executable).parent]
    cuda = find_cuda_root()
    if cuda is not None:
        folders.append(cuda / "bin")
    folders += [Path(name) for name in ("/usr/local/bin", "/usr/bin", "/bin")]
    return list(dict.fromkeys(folders))
