"""Memory that the judge owns and a child process may read and write.

On the cpu target a mailbox is a sealed memory file, which nobody can shrink under the reader. On the
cuda target it is device memory that the judge allocates and lends through CUDA IPC, so gigabytes cross
at device speed and never touch the host. The other side may write at any time, so whoever reads a
mailbox reads each byte once.
"""

import ctypes
import fcntl
import mmap
import os
from collections.abc import Sequence
from typing import Protocol

import torch

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.tree import DTYPES, Node, compute_offsets

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
_IPC_HANDLE_BYTES = 64
_IPC_LAZY_PEER_ACCESS = 1


class Mailbox(Protocol):
    """A run of bytes shared with another process."""

    @property
    def memory(self) -> torch.Tensor:
        """The bytes, as a uint8 tensor on the target's device; shape (nbytes,)."""
        ...

    def close(self) -> None:
        """Give the memory back; harmless when it is closed."""
        ...


def write_tensors(mailbox: Mailbox, nodes: Sequence[Node], *, tensors: Sequence[torch.Tensor]) -> None:
    """Copy tensors into a mailbox in layout order.

    Raises:
        ValueError: they do not fit.
    """
    offsets, total = compute_offsets(nodes)
    if total > mailbox.memory.numel():
        raise ValueError(f"{total} bytes do not fit a mailbox of {mailbox.memory.numel()} bytes")
    for node, tensor, offset in zip(nodes, tensors, offsets, strict=True):
        _view(mailbox, node, offset=offset).copy_(tensor)


def read_tensors(mailbox: Mailbox, nodes: Sequence[Node]) -> list[torch.Tensor]:
    """Fresh private copies of the tensors in a mailbox."""
    return [view.clone() for view in view_tensors(mailbox, nodes)]


def view_tensors(mailbox: Mailbox, nodes: Sequence[Node]) -> list[torch.Tensor]:
    """The tensors in a mailbox, uncopied: the other side may still change them.

    Raises:
        ValueError: they do not fit.
    """
    offsets, total = compute_offsets(nodes)
    if total > mailbox.memory.numel():
        raise ValueError(f"{total} bytes do not fit a mailbox of {mailbox.memory.numel()} bytes")
    return [_view(mailbox, node, offset=offset) for node, offset in zip(nodes, offsets, strict=True)]


class HostMailbox:
    """A sealed memory file, mapped."""

    def __init__(self, fd: int, nbytes: int) -> None:
        """Take ownership of a memory file of that size and map it."""
        self.fd = fd
        self._map = mmap.mmap(fd, nbytes)
        self._memory: torch.Tensor | None = torch.frombuffer(self._map, dtype=torch.uint8)

    @classmethod
    def create(cls, nbytes: int) -> "HostMailbox":
        """A new memory file that can be neither shrunk nor grown.

        Raises:
            InfrastructureError: there is no memory for it.
        """
        fd = os.memfd_create("mailbox", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(fd, nbytes)
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
            return cls(fd, nbytes)
        except OSError as error:
            os.close(fd)
            raise InfrastructureError(f"no memory for a mailbox of {nbytes} bytes: {error}") from error

    @property
    def memory(self) -> torch.Tensor:
        """The bytes; shape (nbytes,)."""
        assert self._memory is not None, "the mailbox is closed"
        return self._memory

    def close(self) -> None:
        """Drop the mapping and the file; views that are still held keep their memory."""
        if self._memory is not None:
            self._memory = None
            os.close(self.fd)


class DeviceMailbox:
    """Device memory of the judge, lent to other processes through a CUDA IPC handle."""

    def __init__(self, pointer: int, nbytes: int, handle: bytes, *, lent: bool) -> None:
        """Wrap device memory; `lent` says that another process owns it."""
        self.handle = handle
        self._pointer = pointer
        self._lent = lent
        self._memory: torch.Tensor | None = torch.as_tensor(_DeviceBytes(pointer, nbytes), device="cuda")

    @classmethod
    def create(cls, nbytes: int) -> "DeviceMailbox":
        """Allocate device memory of its own, outside torch's allocator, and a handle to lend it by.

        Raises:
            InfrastructureError: the device has no room, or cannot share memory.
        """
        pointer, handle = ctypes.c_void_p(), ctypes.create_string_buffer(_IPC_HANDLE_BYTES)
        runtime = _load_runtime()
        _check(runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(nbytes)), f"allocate {nbytes} bytes")
        _check(runtime.cudaIpcGetMemHandle(handle, pointer), "share device memory")
        assert pointer.value is not None
        return cls(pointer.value, nbytes, handle.raw, lent=False)

    @classmethod
    def borrow(cls, handle: bytes, nbytes: int) -> "DeviceMailbox":
        """Open memory that another process lends.

        Raises:
            InfrastructureError: the handle cannot be opened here.
        """
        pointer, runtime = ctypes.c_void_p(), _load_runtime()
        struct = _IpcHandle.from_buffer_copy(handle)
        _check(
            runtime.cudaIpcOpenMemHandle(ctypes.byref(pointer), struct, _IPC_LAZY_PEER_ACCESS),
            "open lent device memory",
        )
        assert pointer.value is not None
        return cls(pointer.value, nbytes, handle, lent=True)

    @property
    def memory(self) -> torch.Tensor:
        """The bytes; shape (nbytes,)."""
        assert self._memory is not None, "the mailbox is closed"
        return self._memory

    def close(self) -> None:
        """Free the memory, or stop borrowing it."""
        if self._memory is None:
            return
        self._memory = None
        torch.cuda.synchronize()
        runtime, pointer = _load_runtime(), ctypes.c_void_p(self._pointer)
        if self._lent:
            runtime.cudaIpcCloseMemHandle(pointer)
        else:
            runtime.cudaFree(pointer)


class _DeviceBytes:
    """Raw device memory in the form torch can wrap."""

    def __init__(self, pointer: int, nbytes: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (pointer, False),
            "version": 3,
        }


class _IpcHandle(ctypes.Structure):
    _fields_ = (("reserved", ctypes.c_char * _IPC_HANDLE_BYTES),)


def _load_runtime() -> ctypes.CDLL:
    assert torch.version.cuda is not None, "device mailboxes need a CUDA build of torch"
    torch.cuda.init()
    torch.cuda.current_stream()
    return ctypes.CDLL(f"libcudart.so.{torch.version.cuda.split('.')[0]}")


def _check(code: int, what: str) -> None:
    if code != 0:
        raise InfrastructureError(f"the CUDA runtime could not {what}: error {code}")


def _view(mailbox: Mailbox, node: Node, *, offset: int) -> torch.Tensor:
    flat = mailbox.memory[offset : offset + node.nbytes]
    return flat.view(DTYPES[node.dtype]).view(node.shape)
