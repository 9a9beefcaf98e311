"""Devices, versions and configurations as they were recorded."""

from cuda_agent.report.material import Material, SavedRun
from cuda_agent.report.system import build_system_page


def test_machines_and_configurations(recorded: Material) -> None:
    page = build_system_page(recorded)
    devices = {each["device"] for each in page.data["machines"]}
    assert {"NVIDIA H200, 132 multiprocessors", "AMD EPYC, 2 threads"} <= devices
    timed = next(each for each in page.data["machines"] if "H200" in each["device"])["ways"]
    assert [way["method"].split(" for ")[0] for way in timed] == ["4 to 24 rounds of 1 to 5 calls"]
    (run,) = page.data["runs"]
    assert run["tasks"] == ["rotary", "focal_loss"]
    assert run["config"]["episode.policy"] == "expert"
    assert run["commands"][0] == "cuda-agent run --resume 2026-11-30-epyc2-run"


def test_names_are_quoted_in_commands() -> None:
    run = SavedRun(name="a; rm -rf b", digest="d", config={}, verb="synth")
    page = build_system_page(Material(runs=(run,)))
    assert page.data["runs"][0]["commands"][0] == "cuda-agent synth --resume 'a; rm -rf b'"


def test_nothing_known() -> None:
    assert build_system_page(Material()).is_empty
