"""Where work runs: a pool of processes, here or on a cluster, in which one may die without losing a item."""
