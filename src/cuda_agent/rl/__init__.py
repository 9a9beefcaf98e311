"""Reinforcement learning: trajectories as tensors, and the formulas of the paper's four stages."""
