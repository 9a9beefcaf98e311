"""Tasks: reference programs in the KernelBench convention."""
