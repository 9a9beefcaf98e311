"""Benchmarks: a suite of tasks, solutions to them, and what they amount to in numbers that can be trusted."""
