import pytest
import torch

from cuda_agent.rl.cuda_graphs import CudaGraphs


@pytest.mark.gpu
def test_a_replay_sees_new_values_in_the_same_tensors_for_each_width() -> None:
    read = torch.arange(8.0, device="cuda")

    def compute(width: int) -> tuple[torch.Tensor, torch.Tensor]:
        return read[:width].sum(), 2 * read[:width]

    graphs = CudaGraphs(compute)
    assert graphs.replay(4)[0].item() == 6.0
    assert graphs.replay(8)[0].item() == 28.0
    read.fill_(1.0)
    assert graphs.replay(4)[0].item() == 4.0
    assert graphs.replay(8)[1].tolist() == [2.0] * 8
