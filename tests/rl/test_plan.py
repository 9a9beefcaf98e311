"""The plan of a run, against values computed by hand."""

import pytest

from cuda_agent.rl.plan import (
    compute_cache_bytes,
    compute_decode_step,
    compute_longest,
    compute_mean_length,
    compute_memory,
    compute_time,
    compute_training_operations,
)
from cuda_agent.rl.scale import (
    EpisodeShape,
    Layout,
    LLMShape,
    Machines,
    PpoSettings,
    ScaleConfig,
    list_presets,
    load_scale,
)

ROUND = ScaleConfig(
    llm=LLMShape(
        path="round",
        total_billions=1.0,
        active_billions=1.0,
        layers=10,
        hidden=1000,
        heads=10,
        kv_heads=2,
        head_dim=100,
        vocabulary=100_000,
    ),
    machines=Machines(
        nodes=1,
        gpus_per_node=2,
        gpu_memory_gb=40.0,
        bf16_tflops=100.0,
        memory_tb_per_s=1.0,
        eval_gpus=4,
        build_cores=8,
    ),
    layout=Layout(tensor_parallel=1, sequence_parallel=2, tokens_per_gpu=10_000, generation_share=0.25),
    episode=EpisodeShape(
        prompt_tokens=2000,
        response_tokens=10_000,
        turns=50,
        expected_turns=10.0,
        expected_generated=100.0,
        expected_tool=300.0,
        expected_evaluations=5.0,
        build_s=2.0,
        evaluation_s=6.0,
    ),
    ppo=PpoSettings(batch=20),
)
OFFLOADED = ROUND.replace(layout=ROUND.layout.replace(offload=True).model_dump())


def test_memory_of_training() -> None:
    memory = compute_memory(ROUND)
    assert memory.state_bytes == 8e9  # 16 x 1e9 over two GPUs
    assert memory.gathered_bytes == 0.4e9  # two tenths of 2e9
    assert memory.activation_bytes == pytest.approx(0.54e9)  # 10,000 x 1,000 x (2 x 10 + 34)
    assert memory.logits_bytes == 6e9  # 6 x 10,000 x 100,000
    assert memory.training_bytes == pytest.approx(22.94e9)  # the critic's 8e9 too
    assert compute_memory(OFFLOADED).training_bytes == pytest.approx(14.94e9)


def test_memory_of_generation() -> None:
    assert compute_cache_bytes(ROUND.llm) == 8000  # 2 x 10 x 2 x 100 x 2
    memory = compute_memory(ROUND)
    assert memory.weights_bytes == 2e9
    assert memory.cache_bytes == 8e9  # a quarter of 40e9, less the weights
    assert memory.cached_tokens == 1_000_000
    crowded = ROUND.replace(layout=ROUND.layout.replace(generation_share=1.0).model_dump())
    assert compute_memory(crowded).cache_bytes == 22e9  # 16e9 of training stay, and 2e9 of weights
    assert (
        compute_memory(
            OFFLOADED.replace(layout=crowded.layout.replace(offload=True).model_dump())
        ).cache_bytes
        == 38e9
    )


@pytest.mark.parametrize(("gpu_memory_gb", "fits"), [(25.6, True), (25.4, False)])
def test_training_may_take_nine_tenths(gpu_memory_gb: float, fits: bool) -> None:
    config = ROUND.replace(machines=ROUND.machines.replace(gpu_memory_gb=gpu_memory_gb).model_dump())
    assert compute_memory(config).fits is fits


def test_a_cache_below_one_longest_episode_does_not_fit() -> None:
    share = (2e9 + 8000 * 12_000) / 40e9
    enough = ROUND.replace(layout=ROUND.layout.replace(generation_share=share * 1.0001).model_dump())
    short = ROUND.replace(layout=ROUND.layout.replace(generation_share=share * 0.9999).model_dump())
    assert compute_memory(enough).fits
    assert not compute_memory(short).fits


def test_time_of_a_step() -> None:
    assert compute_mean_length(ROUND) == 5000  # 1,000 + 10 x 400
    # (2e9 + 10 x 2,500 x 8,000) bytes at 0.6e12 a second, and 5 ms
    assert compute_decode_step(ROUND, 10, context=2500) == pytest.approx(2.2e9 / 0.6e12 + 0.005)
    time = compute_time(ROUND)
    assert (time.copies, time.episodes_at_once) == (2, 10.0)
    assert time.decode_step_s == pytest.approx(0.0086667, rel=1e-4)
    assert time.generate_s == pytest.approx(8.6667, rel=1e-4)  # 20 x 1,000 tokens, 20 at a time
    assert time.evaluations == 100
    assert time.evaluate_s == 150.0  # 100 x 6 / 4
    assert time.build_s == 25.0  # 100 x 2 / 8
    # 25 turns fill 10,000 tokens: 2,500 steps, and 12.5 evaluations of 8 s
    assert time.longest_s == pytest.approx(121.667, rel=1e-4)
    assert (time.limit, time.rollout_s) == ("evaluation GPUs", 150.0)
    # forward: 2e9 x 5,000 + 2 x 10 x 1,000 x 25e6 = 1.05e13; ten of them, 20 episodes, at 70e12 a second
    assert compute_training_operations(ROUND.llm, 5000) == pytest.approx(1.05e14)
    assert time.train_s == pytest.approx(30.0)
    assert time.step_s == pytest.approx(180.0)
    assert time.compute_run_days(480) == pytest.approx(1.0)


def test_the_longest_episode_is_cut_by_its_turns_too() -> None:
    few = ROUND.replace(episode=ROUND.episode.replace(turns=10).model_dump())
    assert compute_longest(few, 0.01) == pytest.approx(10.0 + 40.0)  # 1,000 tokens, 5 evaluations of 8 s


def test_more_evaluation_gpus_move_the_limit() -> None:
    config = ROUND.replace(machines=ROUND.machines.replace(eval_gpus=5).model_dump())
    assert compute_time(config).limit == "the longest episode"


def test_a_mixture_reads_what_its_batch_touches() -> None:
    mixture = ROUND.replace(llm=ROUND.llm.replace(active_billions=0.1).model_dump())
    assert compute_decode_step(mixture, 1, context=0) == pytest.approx(0.2e9 / 0.6e12 + 0.005)
    assert compute_decode_step(mixture, 99, context=0) == pytest.approx(2e9 / 0.6e12 + 0.005)


@pytest.mark.parametrize("name", list_presets())
def test_what_comes_with_the_package_fits(name: str) -> None:
    assert compute_memory(load_scale(name)).fits
