"""Which parts of this machine an untrusted command needs: the allowlist, and nothing else is visible."""

import os
import shutil
import sys
from pathlib import Path

import cuda_agent

ROOT_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Programs and libraries. Most are links into /usr, and are then shown as links."""

ETC_ENTRIES = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime")
"""What the dynamic loader and the compilers read. No user names, no host names, no keys."""

HARDWARE_FOLDERS = ("/sys/devices/system",)
"""Processor topology, for thread libraries. The CUDA driver was seen to need no more of /sys."""

DRIVER_FOLDERS = tuple(Path("/usr/local/nvidia") / name for name in ("lib64", "lib"))
"""Where container runtimes put the driver's libraries when they are not in the system's own folders."""


def find_python_prefixes() -> tuple[Path, ...]:
    """Every installation folder this interpreter is made of: its environment, its base, and the hops between.

    An environment's `bin/python` is a chain of links; each hop's folder must be visible at its own path.
    """
    folders = [Path(sys.prefix), Path(sys.base_prefix)]
    hop = Path(sys.executable)
    while hop.is_symlink():
        hop = Path(os.path.normpath(hop.parent / hop.readlink()))
        folders.append(hop.parent.parent)
    return tuple(dict.fromkeys(folders))


def find_site_folders() -> tuple[Path, ...]:
    """Folders of installed packages that this interpreter imports from but that lie outside its prefixes.

    An environment may share the packages of another one, such as a torch that came with the machine.
    """
    folders = [Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    prefixes = find_python_prefixes()
    return tuple(folder for folder in folders if not any(map(folder.is_relative_to, prefixes)))


def find_package_folder() -> Path:
    """The folder this package is imported from (only it, not the repository around it)."""
    return Path(cuda_agent.__file__).resolve().parent


def find_cuda_root() -> Path | None:
    """The CUDA toolkit's folder, from CUDA_HOME, the usual place, or nvcc on PATH; None without one."""
    found = shutil.which("nvcc")
    candidates = [
        Path(os.environ.get("CUDA_HOME", "/nonexistent")),
        Path("/usr/local/cuda"),
        *([Path(found).resolve().parent.parent] if found else []),
    ]
    return next((folder for folder in candidates if (folder / "bin" / "nvcc").is_file()), None)


def find_system_paths() -> tuple[Path, ...]:
    """Host paths to show read-only; links among them stay links."""
    wanted = [Path(name) for name in (*ROOT_FOLDERS, *HARDWARE_FOLDERS)]
    wanted += [Path("/etc") / name for name in ETC_ENTRIES]
    return tuple(path for path in wanted if path.is_symlink() or path.exists())


def find_private_paths() -> tuple[Path, ...]:
    """Read-only folders that may lie below a hidden one: the interpreter, this package, the CUDA toolkit."""
    wanted = [*find_python_prefixes(), *find_site_folders(), find_package_folder()]
    cuda = find_cuda_root()
    if cuda is not None:
        wanted.append(cuda.resolve())
    usr = Path("/usr")
    return tuple(path for path in dict.fromkeys(wanted) if not path.resolve().is_relative_to(usr))


def find_gpu_devices() -> tuple[Path, ...]:
    """The NVIDIA device files of this machine."""
    names = sorted(Path("/dev").glob("nvidia[0-9]*"))
    names += [Path("/dev") / name for name in ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-caps")]
    return tuple(path for path in names if path.exists())
