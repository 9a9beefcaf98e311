"""A mailbox carries bytes exactly, cannot be resized under the reader, and refuses what does not fit."""

import os

import pytest
import torch

from cuda_agent.judge.mailbox import DeviceMailbox, HostMailbox, Mailbox, read_tensors, write_tensors
from cuda_agent.judge.tree import describe_value

VALUE = [
    torch.arange(5.0),
    torch.tensor([True, False]),
    torch.randn(3, 4).bfloat16(),
    torch.empty(0),
    torch.tensor(7),
]


def carry(mailbox: Mailbox, device: str) -> None:
    node, tensors = describe_value([tensor.to(device) for tensor in VALUE])
    write_tensors(mailbox, node.list_tensors(), tensors=tensors)
    for got, sent in zip(read_tensors(mailbox, node.list_tensors()), VALUE, strict=True):
        assert got.dtype is sent.dtype
        assert torch.equal(got.cpu(), sent)


def test_host_mailbox_carries_bytes() -> None:
    carry(HostMailbox.create(1 << 20), "cpu")


def test_two_mappings_of_one_file_share_their_bytes() -> None:
    ours = HostMailbox.create(4096)
    theirs = HostMailbox(os.dup(ours.fd), 4096)
    theirs.memory[7] = 99
    assert int(ours.memory[7]) == 99
    ours.close()
    theirs.close()


def test_a_host_mailbox_cannot_be_resized() -> None:
    mailbox = HostMailbox.create(4096)
    with pytest.raises(PermissionError):
        os.ftruncate(mailbox.fd, 0)
    with pytest.raises(PermissionError):
        os.ftruncate(mailbox.fd, 1 << 20)
    mailbox.close()


def test_what_does_not_fit_is_refused() -> None:
    mailbox = HostMailbox.create(4096)
    node, tensors = describe_value([torch.zeros(2000)])
    with pytest.raises(ValueError, match="do not fit"):
        write_tensors(mailbox, node.list_tensors(), tensors=tensors)
    with pytest.raises(ValueError, match="do not fit"):
        read_tensors(mailbox, node.list_tensors())
    mailbox.close()
    mailbox.close()


@pytest.mark.gpu
def test_device_mailbox_carries_bytes() -> None:
    mailbox = DeviceMailbox.create(1 << 20)
    carry(mailbox, "cuda")
    mailbox.close()
