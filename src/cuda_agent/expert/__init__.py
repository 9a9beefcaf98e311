"""The expert: a policy without a language model. It optimises a traced module and acts through the tools.

The way of a task through this room: trace -> graph -> canonical -> rewrite -> fuse (lower) -> plan -> schedule
-> emit_cpu | emit_cuda -> tune -> chat.
"""
