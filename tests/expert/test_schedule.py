from collections.abc import Mapping

from cuda_agent.expert.plan import Level, Value
from cuda_agent.expert.schedule import Keep, Schedule, build_schedule
from tests.expert.built import Planned


def describe(planned: Planned, keep: Keep) -> list[tuple[list[str], list[str]]]:
    """For each pass: operations kept, and operations read."""
    kernel = planned.plan.kernels[0]
    passes = build_schedule(kernel, keep).passes
    return [
        (
            [kernel.values[n].op for n in one.sweeps[0].keeps],
            [kernel.values[n].op for n in one.sweeps[0].reads],
        )
        for one in passes
    ]


def test_softmax_takes_three_passes_and_keeps_its_exponentials(planned: Mapping[str, Planned]) -> None:
    assert describe(planned["softmax"], Keep.DEAR) == [([], []), (["exp"], []), ([], ["exp"])]


def test_nothing_is_kept_when_rows_do_not_fit(planned: Mapping[str, Planned]) -> None:
    assert describe(planned["softmax"], Keep.NOTHING) == [([], []), ([], []), ([], [])]


def test_row_data_is_kept_but_column_data_is_read_again(planned: Mapping[str, Planned]) -> None:
    kept = describe(planned["layer_norm"], Keep.ROW)
    assert kept == [(["add"], []), (["sub"], ["add"]), ([], ["sub"])]


def test_pointwise_kernels_take_one_pass(planned: Mapping[str, Planned]) -> None:
    schedule = build_schedule(planned["gelu_bias"].plan.kernels[0], Keep.DEAR)
    assert len(schedule.passes) == 1
    assert schedule.kept == ()
    assert len(schedule.passes[0].sweeps[0].stores) == 1


def test_every_step_comes_after_what_it_needs(planned: Mapping[str, Planned]) -> None:
    for name, one in planned.items():
        for kernel in one.plan.kernels:
            for keep in Keep:
                check_order(kernel.values, build_schedule(kernel, keep), name=name)


def check_order(values: tuple[Value, ...], schedule: Schedule, *, name: str) -> None:
    known = {number for number, value in enumerate(values) if value.op == "literal"}

    def add(numbers: tuple[int, ...], local: set[int]) -> None:
        for number in numbers:
            value = values[number]
            picks = tuple(pick for pick, _ in value.access.picks) if value.access else ()
            needs = () if value.op.startswith("reduce_") else (*value.args, *picks)
            assert all(need in known or need in local for need in needs), (name, number)
            (local if value.level is Level.FULL else known).add(number)

    add(schedule.once, set())
    add(schedule.row_start, set())
    kept: set[int] = set()
    for one in schedule.passes:
        for sweep in one.sweeps:
            assert set(sweep.reads) <= kept, name
            local = set(sweep.reads)
            add(sweep.steps, local)
            kept |= set(sweep.keeps)
            wanted = [n for _, n in (*sweep.reductions, *sweep.totals)] + [s.value for s in sweep.stores]
            assert all(n in local or n in known for n in wanted), name
        known |= set(one.reductions)
        add(one.row_values, set())
    add(schedule.final, set())
