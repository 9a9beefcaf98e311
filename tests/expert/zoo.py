"""Small modules of every kind that the expert should fuse, as reference programs."""

from textwrap import indent

TEMPLATE = """import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, size=3):
        super().__init__()
{init}

    def forward(self, {arguments}):
{forward}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""


def write_module(forward: str, inputs: dict[str, str], *, init: str = "pass") -> str:
    """A reference program; `inputs` gives an expression for each argument of forward."""
    return TEMPLATE.format(
        init=indent(init, " " * 8),
        arguments=", ".join(inputs),
        forward=indent(forward, " " * 8),
        inputs=", ".join(inputs.values()),
    )


X = {"x": "torch.randn(5, 37)"}
XY = {"x": "torch.randn(4, 3, 19)", "y": "torch.randn(4, 3, 19)"}
IMAGE = {"x": "torch.randn(2, 6, 5, 7)"}

ZOO = {
    "gelu_bias": write_module(
        "return F.gelu(x + self.bias) * 2.5", X, init="self.bias = nn.Parameter(torch.randn(37))"
    ),
    "gelu_tanh": write_module("return F.gelu(x, approximate='tanh') - F.mish(x) + F.softplus(x)", X),
    "activations": write_module(
        "return F.relu(x) + F.leaky_relu(x, 0.2) * F.elu(x) + F.hardswish(x) + F.hardtanh(x, -0.5, 0.7)", X
    ),
    "trigonometry": write_module(
        "return torch.sin(3 * x) * torch.cos(x) + torch.tanh(x) ** 3 + x.abs() ** 1.5", X
    ),
    "logarithms": write_module("return torch.log1p(x.abs()) + torch.log(x * x + 0.1) + torch.expm1(x)", X),
    "comparisons": write_module(
        "return torch.where((x > 0.3) & (x != 1) | (x < -1), x.floor(), x.sign() * 2)", X
    ),
    "outer_broadcast": write_module(
        "return torch.sigmoid(a) * b - c",
        {"a": "torch.randn(6, 1)", "b": "torch.randn(21)", "c": "torch.randn(())"},
    ),
    "softmax": write_module("return torch.softmax(x / 1.7, dim=-1)", X),
    "masked_softmax": write_module(
        "return torch.softmax(x.masked_fill(~m, float('-inf')), dim=-1)",
        {"x": "torch.randn(2, 3, 4, 19)", "m": "torch.arange(19) < torch.randint(3, 19, (2, 1, 1, 1))"},
    ),
    "log_softmax": write_module("return F.log_softmax(x, dim=-1), torch.logsumexp(x, dim=1)", X),
    "softmax_over_channels": write_module("return torch.softmax(x, dim=1)", IMAGE),
    "layer_norm": write_module(
        "return self.norm(y + self.drop(x))",
        XY,
        init="self.norm = nn.LayerNorm(19)\nself.drop = nn.Dropout(0.5)",
    ),
    "layer_norm_two_axes": write_module("return F.layer_norm(x, (3, 19)) * y", XY),
    "rms_norm": write_module(
        "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.w * F.silu(y)",
        XY,
        init="self.w = nn.Parameter(torch.randn(19))",
    ),
    "norm_then_softmax": write_module("return torch.softmax(F.rms_norm(x, (19,)) * y, dim=-1)", XY),
    "group_norm": write_module("return F.silu(self.norm(x))", IMAGE, init="self.norm = nn.GroupNorm(3, 6)"),
    "batch_norm": write_module("return F.relu(self.norm(x))", IMAGE, init="self.norm = nn.BatchNorm2d(6)"),
    "normalize": write_module("return F.normalize(x, dim=-1), x / x.norm()", X),
    "cross_entropy": write_module(
        "return F.cross_entropy(x, t)", {"x": "torch.randn(11, 29)", "t": "torch.randint(0, 29, (11,))"}
    ),
    "cross_entropy_smooth": write_module(
        "return F.cross_entropy(x, t, label_smoothing=0.1, reduction='none')",
        {"x": "torch.randn(11, 29)", "t": "torch.randint(0, 29, (11,))"},
    ),
    "cross_entropy_ignored": write_module(
        "return F.cross_entropy(x, t)",
        {"x": "torch.randn(5, 7)", "t": "torch.tensor([1, -100, 6, 0, -100])"},
    ),
    "focal": write_module(
        "p = torch.sigmoid(x)\n"
        "ce = F.binary_cross_entropy_with_logits(x, t, reduction='none')\n"
        "pt = p * t + (1 - p) * (1 - t)\n"
        "return (ce * (1 - pt) ** 2).mean()",
        {"x": "torch.randn(3, 50)", "t": "(torch.rand(3, 50) < 0.3).float()"},
    ),
    "losses": write_module(
        "return F.mse_loss(x, y), F.smooth_l1_loss(x, y), F.huber_loss(x, y), F.l1_loss(x, y)", XY
    ),
    "kl": write_module("return F.kl_div(F.log_softmax(x, -1), F.softmax(y, -1), reduction='batchmean')", XY),
    "reductions": write_module(
        "return x.sum(), x.mean(1), x.amax(-1), x.amin(0), x.std(1), x.var(unbiased=False)", X
    ),
    "counts": write_module("return (x > 0).sum(), (x > 0).float().mean(-1)", X),
    "rotary_half": write_module(
        "a, b = x.chunk(2, dim=-1)\nreturn x * c + torch.cat((-b, a), dim=-1) * s",
        {"x": "torch.randn(2, 3, 5, 16)", "c": "torch.randn(5, 16)", "s": "torch.randn(5, 16)"},
    ),
    "rotary_interleaved": write_module(
        "a, b = x[..., ::2], x[..., 1::2]\n"
        "return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)",
        {"x": "torch.randn(2, 5, 16)", "c": "torch.randn(5, 8)", "s": "torch.randn(5, 8)"},
    ),
    "rotary_partial": write_module(
        "r, p = x[..., :6], x[..., 6:]\n"
        "h = torch.cat((-r[..., 3:], r[..., :3]), -1)\n"
        "return torch.cat((r * c + h * s, p), -1)",
        {"x": "torch.randn(4, 5, 16)", "c": "torch.randn(5, 6)", "s": "torch.randn(5, 6)"},
    ),
    "cat_rows": write_module("return torch.cat((x * 2, y.exp(), x - y), dim=0)", XY),
    "cat_middle": write_module("return F.relu(torch.cat((x, y), dim=1)) + 1", XY),
    "cat_then_softmax": write_module("return torch.softmax(torch.cat((x, 2 * y), dim=-1), dim=-1)", XY),
    "glu": write_module("return F.glu(x, dim=-1)", {"x": "torch.randn(5, 38)"}),
    "swiglu": write_module("a, b = x.chunk(2, -1)\nreturn F.silu(a) * b", {"x": "torch.randn(5, 38)"}),
    "transpose": write_module("return x.transpose(1, 2) * 2 + y.permute(0, 2, 1)", XY),
    "heads": write_module(
        "q = x.view(2, 5, 3, 4).transpose(1, 2)\n"
        "return q * 0.5, q.softmax(-1).transpose(1, 2).reshape(2, 5, 12)",
        {"x": "torch.randn(2, 5, 12)"},
    ),
    "embedding": write_module(
        "return self.table(i) * 3 + self.place(torch.arange(7))",
        {"i": "torch.randint(0, 13, (2, 7))"},
        init="self.table = nn.Embedding(13, 10)\nself.place = nn.Embedding(7, 10)",
    ),
    "causal_mask": write_module(
        "i = torch.arange(9)\nreturn torch.softmax(x.masked_fill(i[None, :] > i[:, None], -1e9), -1)",
        {"x": "torch.randn(2, 9, 9)"},
    ),
    "casts": write_module(
        "return (x * 3).int(), (x > 0).long() + 2, x.double() * 2, x.to(torch.bfloat16)", X
    ),
    "bfloat16": write_module(
        "return F.layer_norm(x, (37,)) + y, x.float().sum(-1)",
        {"x": "torch.randn(5, 37).bfloat16()", "y": "torch.randn(37).bfloat16()"},
    ),
    "float16": write_module(
        "return torch.softmax(x, -1) * y", {"x": "torch.randn(5, 37).half()", "y": "torch.randn(37).half()"}
    ),
    "float64": write_module(
        "return torch.softmax(x, -1) * torch.erf(y)",
        {"x": "torch.randn(5, 37).double()", "y": "torch.randn(37).double()"},
    ),
    "rounded": write_module("return x.bfloat16().float() * 3, x.half() + 1.5, x.double().float()", X),
    "small_constant": write_module("return x * torch.tensor([1.0, 2.0, 3.0])", {"x": "torch.randn(5, 3)"}),
    "table_outside_state": write_module(
        "return x * self.table + self.shift",
        X,
        init="t = torch.arange(37).float() / 7\n"
        "self.register_buffer('table', t.cos(), persistent=False)\nself.shift = t * 2",
    ),
    "nested_inputs": write_module(
        "return {'sum': p[0] + p[1], 'rest': [p[0] * 2]}", {"p": "(torch.randn(3, 4), torch.randn(3, 4))"}
    ),
    "passes_through": write_module("return x, x.exp()", X),
    "even_pointwise": write_module(
        "return F.gelu(x + self.b) * self.s, x.half()",
        {"x": "torch.randn(64, 128)"},
        init="self.b = nn.Parameter(torch.randn(128))\nself.s = nn.Parameter(torch.randn(128))",
    ),
    "even_masked_softmax": write_module(
        "return torch.softmax((x / 1.7).masked_fill(~m, float('-inf')), -1)",
        {"x": "torch.randn(2, 3, 512)", "m": "torch.arange(512) < torch.tensor([[[400]], [[512]]])"},
    ),
    "even_total": write_module(
        "return (torch.sigmoid(x) * y).mean()", {"x": "torch.randn(64, 256)", "y": "torch.rand(64, 256)"}
    ),
    "even_bfloat16": write_module(
        "return F.layer_norm(x, (256,)) * torch.sigmoid(y.float()).bfloat16()",
        {"x": "torch.randn(9, 256).bfloat16()", "y": "torch.randn(256).bfloat16()"},
    ),
    "block_rows": write_module(
        "return F.layer_norm(x, (4096,)) + x, x.sum(-1)", {"x": "torch.randn(3, 4096)"}
    ),
    "huge_rows": write_module("return torch.softmax(x, -1)", {"x": "torch.randn(2, 36864)"}),
    "long_rows": write_module(
        "return torch.softmax(x, -1), F.layer_norm(x, (3001,))", {"x": "torch.randn(3, 3001)"}
    ),
    "single": write_module("return torch.softmax(x, -1) * 2", {"x": "torch.randn(64)"}),
    "scalar_result": write_module("return (x.softmax(-1) * y).sum() / 7 + x.amax()", XY),
    "deep_modules": write_module(
        "for layer in self.layers:\n    x = layer(x)\nreturn x",
        X,
        init="self.layers = nn.ModuleList([nn.LayerNorm(37), nn.Sequential(nn.GELU(), nn.LayerNorm(37))])",
    ),
}
"""Reference programs by name."""
