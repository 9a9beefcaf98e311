"""What no entry allows is refused, and every data file says why."""

import pytest

from cuda_agent.environment.allowlist import Allowlist, NameSet, load_allowlists

LIST = Allowlist(
    "by default",
    NameSet({"open": "needed", "exact": "needed"}, (("pre_", "needed"),)),
    NameSet({"open": "use a tensor"}, (("pre_bad", "never"),)),
)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("exact", None),
        ("pre_x", None),
        ("open", "use a tensor"),
        ("pre_bad_one", "never"),
        ("exactly", "by default"),
        ("x", "by default"),
    ],
)
def test_refusal_wins_and_the_default_is_refusal(name: str, reason: str | None) -> None:
    assert LIST.refuse(name) == reason


@pytest.mark.parametrize("file", ["symbols", "python", "cpp"])
def test_data_has_reasons_and_stars_only_at_the_end(file: str) -> None:
    for allowlist in load_allowlists(file).values():
        for names in (allowlist.allowed, allowlist.refused):
            listed = [*names.exact.items(), *names.prefixes]
            assert all(why for _, why in listed)
            assert not any("*" in name for name, _ in listed)


@pytest.mark.parametrize(
    "name", ["dlopen", "system", "cuModuleLoadData", "syscall", "mmap", "made_up", "environ"]
)
def test_symbols_that_reach_out_are_refused(name: str) -> None:
    assert load_allowlists("symbols")["undefined"].refuse(name)


@pytest.mark.parametrize(
    "name", ["expf", "GOMP_parallel", "cudaLaunchKernel", "cublasSgemm_v2", "__cxa_throw", "memcpy"]
)
def test_symbols_that_kernels_need_pass(name: str) -> None:
    assert load_allowlists("symbols")["undefined"].refuse(name) is None
