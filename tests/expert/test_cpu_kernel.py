from collections.abc import Mapping

from cuda_agent.expert.choice import Choice
from cuda_agent.expert.cpu_kernel import CpuKernel
from tests.expert.built import Planned


def write(planned: Planned, choice: Choice) -> str:
    return CpuKernel(planned.plan.kernels[0], planned.plan, choice=choice).write()


def test_rows_are_shared_among_threads(planned: Mapping[str, Planned]) -> None:
    text = write(planned["masked_softmax"], Choice())
    assert "#pragma omp for schedule(static) collapse(2) nowait" in text
    assert text.count("walk<4>(19,") == 3


def test_flat_kernels_are_shared_in_chunks(planned: Mapping[str, Planned]) -> None:
    text = write(planned["even_total"], Choice(chunk=1024))
    assert "for (int64_t start = 0; start < 16384; start += 1024)" in text
    assert "double total" in text


def test_broadcast_operands_are_loaded_once_a_vector(planned: Mapping[str, Planned]) -> None:
    text = write(planned["outer_broadcast"], Choice())
    assert "splat(load_one(" in text or "const float" in text


def test_prefetching_asks_for_the_next_row_in_the_last_pass(planned: Mapping[str, Planned]) -> None:
    text = write(planned["rms_norm"], Choice(prefetch=True))
    assert text.count("prefetch(") == 2
    assert "prefetch(" not in text[: text.index("stor")]
    assert "prefetch(" not in write(planned["rms_norm"], Choice())
    assert "prefetch(" not in write(planned["outer_broadcast"], Choice(prefetch=True))
