"""Staging, calling and handing over."""

import math

import pytest
import torch

from cuda_agent.judge.contestant import Lane, Shelf, have_same_bytes
from cuda_agent.judge.device import CpuDevice
from cuda_agent.judge.guard import ForbiddenOperatorError
from cuda_agent.judge.mailbox import HostMailbox, read_tensors, write_tensors
from cuda_agent.judge.protocol import Call, CallMode, Contestant
from cuda_agent.judge.tree import describe_value


def ask(mode: CallMode, *, guarded: bool = False, poisoned: bool = False) -> Call:
    return Call(contestant=Contestant.CANDIDATE, mode=mode, guarded=guarded, poisoned=poisoned)


@pytest.fixture
def device() -> CpuDevice:
    return CpuDevice(threads=1)


def test_each_staged_set_is_called_once_and_its_output_kept(device: CpuDevice) -> None:
    lane = Lane(lambda x: x * 2, device)
    for value in (1.0, 2.0):
        lane.stage_value((torch.full((3,), value),))
    called = lane.call(ask(CallMode.TIMED))
    assert len(called.calls_ms) == 2
    assert all(call_ms > 0 for call_ms in called.calls_ms)
    outbox = HostMailbox.create(4096)
    for index, value in enumerate((2.0, 4.0)):
        node = lane.collect(outbox, index)
        assert torch.equal(read_tensors(outbox, node.list_tensors())[0], torch.full((3,), value))
    outbox.close()


def test_inputs_come_out_of_the_inbox_at_fresh_addresses(device: CpuDevice) -> None:
    seen: list[int] = []
    lane = Lane(lambda x: seen.append(x.data_ptr()), device)
    inbox = HostMailbox.create(4096)
    node, tensors = describe_value([torch.arange(4.0)])
    write_tensors(inbox, node.list_tensors(), tensors=tensors)
    lane.stage(inbox, node)
    lane.stage(inbox, node)
    lane.call(ask(CallMode.BATCH))
    assert len(set(seen)) == 2
    inbox.close()


@pytest.mark.parametrize(("write", "changed"), [(True, True), (False, False)])
def test_a_write_to_an_input_is_noticed(device: CpuDevice, write: bool, changed: bool) -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        if write:
            x.numpy()[0] = 5.0
        return x.clone()

    lane = Lane(forward, device)
    lane.stage_value((torch.zeros(3),))
    assert lane.call(ask(CallMode.CHECK)).inputs_changed is changed


def test_unwritten_memory_is_poisoned(device: CpuDevice) -> None:
    lane = Lane(torch.empty_like, device)
    lane.stage_value((torch.zeros(1000),))
    lane.call(ask(CallMode.CHECK, guarded=True, poisoned=True))
    outbox = HostMailbox.create(1 << 16)
    node = lane.collect(outbox, 0)
    assert bool(torch.isnan(read_tensors(outbox, node.list_tensors())[0]).all())
    assert not torch.are_deterministic_algorithms_enabled()
    outbox.close()


def test_an_output_that_does_not_fit_is_only_described(device: CpuDevice) -> None:
    lane = Lane(lambda x: x.repeat(10_000), device)
    lane.stage_value((torch.ones(3),))
    lane.call(ask(CallMode.BATCH))
    outbox = HostMailbox.create(4096)
    assert lane.collect(outbox, 0).shape == (30_000,)
    assert int(outbox.memory.sum()) == 0
    outbox.close()


def test_one_changed_or_moved_element_is_seen() -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.bool, torch.int64):
        value = torch.zeros(7, dtype=dtype)
        value[2] = 1
        assert have_same_bytes(value, value.clone())
        assert not have_same_bytes(value, value.roll(1))
    nan = torch.tensor([math.nan])
    assert have_same_bytes(nan, nan.clone())
    assert have_same_bytes(torch.empty(0), torch.empty(0))


def test_a_guard_in_timed_calls_refuses_the_candidate_and_not_the_flush(device: CpuDevice) -> None:
    lane = Lane(torch.empty_like, device)
    lane.stage_value((torch.ones(4),))
    assert len(lane.call(ask(CallMode.TIMED, guarded=True)).calls_ms) == 1
    lane = Lane(torch.relu, device)
    lane.stage_value((torch.ones(4),))
    with pytest.raises(ForbiddenOperatorError, match="aten::relu"):
        lane.call(ask(CallMode.TIMED, guarded=True))


def test_boards_are_kept_and_never_shared() -> None:
    shelf, value = Shelf(), torch.arange(1000.0)

    def place(count: int) -> list[int]:
        copies = [shelf.copy([value])[0] for _ in range(count)]
        assert all(torch.equal(copy, value) and copy.data_ptr() % 64 == 0 for copy in copies)
        return sorted(copy.untyped_storage().data_ptr() for copy in copies)

    first = place(3)
    assert len(set(first)) == 3
    shelf.clear()
    assert place(3) == first
    assert len(set(place(1)) - set(first)) == 1
