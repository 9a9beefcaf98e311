"""What k tries would bring, estimated without bias from n of them."""

from collections.abc import Sequence
from math import comb


def compute_pass_at_k(*, tries: int, passed: int, k: int) -> float:
    """The chance that at least one of k tries passes: 1 - C(n-c, k) / C(n, k).

    It is the share, among all choices of k out of the n tries, of those with one of the c that passed
    (the estimator of Chen et al. 2021, section 2.1).

    Raises:
        ValueError: not 1 <= k <= tries, or not 0 <= passed <= tries.
    """
    _check(k, tries)
    if not 0 <= passed <= tries:
        raise ValueError(f"{passed} of {tries} tries cannot have passed")
    return 1.0 - comb(tries - passed, k) / comb(tries, k)


def compute_best_of_k(rewards: Sequence[float], k: int) -> float:
    """The mean, over all choices of k out of the rewards, of the choice's highest.

    In ascending order the i-th reward (from 1) is the highest of C(i-1, k-1) choices.

    Raises:
        ValueError: not 1 <= k <= the number of rewards.
    """
    _check(k, len(rewards))
    highest = sum(comb(place, k - 1) * reward for place, reward in enumerate(sorted(rewards)))
    return highest / comb(len(rewards), k)


def list_ks(tries: int) -> tuple[int, ...]:
    """Which k are worth telling: 1, 2, 4, ... below the number of tries, and that number."""
    powers = (1 << exponent for exponent in range(tries.bit_length()))
    return tuple(sorted({k for k in (*powers, tries) if 1 <= k <= tries}))


def _check(k: int, tries: int) -> None:
    if not 1 <= k <= tries:
        raise ValueError(f"k must be from 1 to the number of tries, {tries}; got {k}")
