"""The environment in which verl works on processors alone."""

CPU_ENVIRONMENT = {
    "VERL_USE_EXTERNAL_MODULES": "cuda_agent.rl.verl_adapter.platform_cpu",
    "VERL_PLATFORM": "cpu",
    # Its FSDP engine is registered for cuda alone, and is the same on every device.
    "VERL_ENGINE_DEVICE": "cuda",
}
"""Takes our platform, and the engine that verl has for GPUs."""
