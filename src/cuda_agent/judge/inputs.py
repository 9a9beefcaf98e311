"""How the trusted side makes inputs and weights that cannot be guessed.

Inputs: the task's own `get_inputs` under a secret seed, then one of several monotone reshapings of
each floating tensor within its own range, so that probabilities stay probabilities and positive values
stay positive, while means, rows and tails differ from draw to draw. Weights: the task's own constructor
under a secret seed, then every constant floating parameter or buffer (zeros, ones, running statistics)
is replaced by random values near it, so that no term can vanish.

Ties: where equal inputs may be named in either order (topk), whole-number outputs are a choice. A choice
shows in that it changes when inputs move by a few roundings; where much of an output is one, draws are
made in which ties are parted, so that there is one right answer again.
"""

from collections.abc import Sequence

import torch

VARIANTS = 5
"""How many input distributions there are; variant 0 is the task's own."""
NATURAL = 1
"""The task's own distribution too, with ties parted where answers hang on them."""

ROUNDINGS = 2.0**-20
"""Share of a tensor's largest value that different orders of computing may move it by."""
PARTING = 2.0**-9
"""Share of a tensor's largest value that parts ties."""

_EXPONENTS = {1: 1.0, 2: 3.0, 3: 1.0 / 3.0}


def reshape_distribution(value: torch.Tensor, variant: int) -> torch.Tensor:
    """A floating tensor with the same range and another distribution; anything else unchanged.

    With u = (x - min) / (max - min): variants 2 and 3 give u^3 and u^(1/3), variant 4 gives each row
    of the first axis its own exponent between 1/3 and 3. Variants 0 and 1 are the natural draw.
    """
    if not value.is_floating_point() or variant in (0, 1) or value.numel() < 2:
        return value
    working = value.double() if value.numel() < (1 << 20) else value.float()
    low, high = working.min(), working.max()
    if not (torch.isfinite(low) and torch.isfinite(high)) or bool(high <= low):
        return value
    unit = ((working - low) / (high - low)).clamp_(0.0, 1.0)
    reshaped = unit.pow_(_choose_exponent(unit, variant)).mul_(high - low).add_(low)
    return reshaped.to(value.dtype)


def randomise_state(state: dict[str, torch.Tensor]) -> None:
    """Replace, in place, every floating tensor whose elements are all equal by random values near it.

    v becomes v * U(0.5, 1.5), and 0 becomes U(-0.25, 0.25): a positive value stays positive.
    """
    for tensor in state.values():
        if not tensor.is_floating_point() or not tensor.numel() or not is_constant(tensor):
            continue
        first = float(tensor.reshape(-1)[0])
        if first == 0.0:
            tensor.uniform_(-0.25, 0.25)
        elif torch.isfinite(tensor.reshape(-1)[0]):
            tensor.copy_(torch.empty_like(tensor).uniform_(0.5, 1.5).mul_(first))


def refresh_values(values: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """Fresh values from nearly the same distributions, at the price of two passes.

    Floating tensors are rotated, flattened, by a secret distance, so that elements move, and scaled by a
    secret factor between 0.9 and 1, so that sums and means move too while ranges hold. Integers and
    booleans may index or delimit something, so they keep their values: where there are integers, the
    reference process draws anew instead.
    """
    generator = torch.Generator().manual_seed(seed)

    def rotate(value: torch.Tensor) -> torch.Tensor:
        distance = int(torch.randint(1, 1 << 62, (), generator=generator)) % max(value.numel(), 1)
        factor = 0.9 + 0.1 * float(torch.rand((), generator=generator))
        flat, rotated = value.reshape(-1), torch.empty_like(value).view(-1)
        split = value.numel() - distance
        torch.mul(flat[:split], factor, out=rotated[distance:])
        torch.mul(flat[split:], factor, out=rotated[:distance])
        return rotated.view(value.shape)

    return [rotate(value) if value.is_floating_point() else value.clone() for value in values]


def jitter_value(value: torch.Tensor, share: float) -> torch.Tensor:
    """A floating tensor, each element moved by up to that share of the largest finite one."""
    if not value.is_floating_point() or not value.numel():
        return value
    largest = torch.where(torch.isfinite(value), value, 0.0).abs().max()
    noise = torch.rand(value.shape, dtype=torch.float32, device=value.device).mul_(2.0).sub_(1.0)
    return (value + noise.mul_(share * largest.float())).to(value.dtype)


def perturb_values(values: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """Copies in which one element of each floating tensor has taken another element's value, or moved."""
    generator = torch.Generator().manual_seed(seed)

    def perturb(value: torch.Tensor) -> torch.Tensor:
        changed = value.clone()
        if not value.is_floating_point() or not value.numel():
            return changed
        flat = changed.view(-1)
        at = int(torch.randint(value.numel(), (), generator=generator))
        other = flat.max() if bool(flat[at] != flat.max()) else flat.min()
        flat[at] = other if bool(flat[at] != other) else flat[at] * 0.5 + 0.25
        return changed

    return [perturb(value) for value in values]


def swap_values(values: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """Copies in which one element of each floating tensor has changed places with its largest or smallest."""
    generator = torch.Generator().manual_seed(seed)

    def swap(value: torch.Tensor) -> torch.Tensor:
        changed = value.clone()
        if not value.is_floating_point() or not value.numel():
            return changed
        flat = changed.view(-1)
        at = int(torch.randint(value.numel(), (), generator=generator))
        other = int(flat.argmax() if bool(flat[at] != flat.max()) else flat.argmin())
        flat[[at, other]] = flat[[other, at]]
        return changed

    return [swap(value) for value in values]


def is_whole(value: torch.Tensor) -> bool:
    """Whether a tensor holds whole numbers (booleans do not count)."""
    return not value.is_floating_point() and not value.is_complex() and value.dtype is not torch.bool


def is_constant(value: torch.Tensor) -> bool:
    """Whether all elements of a non-empty tensor are equal."""
    return bool((value == value.reshape(-1)[0]).all())


def measure_choices(outputs: list[torch.Tensor], free: list[torch.Tensor]) -> float:
    """The largest share, over the outputs that hold whole numbers or booleans, of free elements."""
    pairs = zip(outputs, free, strict=True)
    return max((float(f.double().mean()) for o, f in pairs if o.numel() and not is_measured(o)), default=0.0)


def is_measured(value: torch.Tensor) -> bool:
    """Whether a tensor's values are compared within a tolerance."""
    return value.is_floating_point() or value.is_complex()


def _choose_exponent(unit: torch.Tensor, variant: int) -> torch.Tensor | float:
    if variant in _EXPONENTS:
        return _EXPONENTS[variant]
    rows = torch.rand(unit.shape[:1] + (1,) * (unit.dim() - 1), dtype=unit.dtype, device=unit.device)
    return torch.exp((rows * 2 - 1) * 1.0986)
