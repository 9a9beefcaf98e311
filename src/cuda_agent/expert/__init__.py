"""The expert: a policy without a language model. It plans kernels for a traced module.

The way of a task through this room: trace -> graph -> canonicalize -> rewrite -> fuse (layout, domain,
lower, collapse) -> plan -> schedule -> emit_cpu | emit_cuda, emit_model -> tune -> chat.
"""
