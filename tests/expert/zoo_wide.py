"""Small modules with rarer functions, running sums, sorting, pooling and reductions across rows."""

from tests.expert.zoo import IMAGE, XY, write_module

LINES = {"x": "torch.randn(13, 301)"}
ACROSS = {"x": "torch.randn(3, 37, 6, 7)"}

ZOO_WIDE = {
    "circular": write_module(
        "return torch.atan(x), torch.asin(x.clamp(-1, 1)), torch.acos(x.clamp(-1, 1)), torch.atan2(x, y),"
        " torch.atan2(x * 0, y), torch.angle(x)",
        XY,
    ),
    "hyperbolic_inverses": write_module(
        "return torch.sinh(x * 8), torch.asinh(x * 50), torch.atanh(x.clamp(-1, 1) * 0.99),"
        " torch.hypot(x, y), torch.copysign(x, y), torch.isinf(x / 0)",
        XY,
    ),
    "remainders": write_module(
        "return torch.fmod(x * 9, y), torch.remainder(x * 9, y), torch.remainder(x, 0.3), "
        "torch.fmod(x, -0.7), torch.floor_divide(x * 9, y), torch.frac(x), (x * 9).long() % 5",
        XY,
    ),
    "extremes_without_nan": write_module("return torch.fmax(x, y.log()), torch.fmin(x.log(), y)", XY),
    "special": write_module(
        "return torch.lgamma(x * 4), torch.digamma(x * 4), torch.erfinv(x.clamp(-1, 1)), torch.i0(x * 12)", XY
    ),
    "logarithms_of_sums": write_module(
        "return torch.logaddexp(x, y), torch.logaddexp2(x, y), torch.xlogy(x.abs(), y.abs()), torch.sinc(x),"
        " torch.nan_to_num(x.log()), torch.logit(x.sigmoid())",
        XY,
    ),
    "running": write_module(
        "return x.cumsum(-1), x.cumsum(0), x.cumprod(1), torch.cummax(x, -1)[0], torch.cummin(x, 0)[0],"
        " torch.logcumsumexp(x * 30, 1), torch.logcumsumexp(x, 0), (x > 0).cumsum(-1)",
        LINES,
    ),
    "running_between": write_module("return F.relu((x * 2).cumsum(1)) + 1", IMAGE),
    "sorted": write_module(
        "return x.sort(-1)[0], x.sort(0, descending=True)[0], x.topk(5)[0], "
        "x.topk(3, dim=0, largest=False)[0], x.kthvalue(7)[0], x.median(-1)[0], x.median(0, keepdim=True)[0]",
        LINES,
    ),
    "places": write_module(
        "return x.argmax(-1), x.argmin(1), x.argmax(), x.max(1)[0], x.min(-1, keepdim=True)[1]", IMAGE
    ),
    "pools_of_any_size": write_module(
        "return F.adaptive_max_pool2d(x, 4), F.adaptive_avg_pool2d(x, (3, 5)), "
        "F.adaptive_max_pool2d(x, (3, 7))",
        {"x": "torch.randn(2, 3, 6, 7)"},
    ),
    "rolled": write_module(
        "return x.roll(3, 1), x.roll((1, -2), (0, 3)), x.roll(5), F.pad(x, (1, 2, 2, 1), mode='circular')",
        IMAGE,
    ),
    "bags": write_module(
        "return self.e(x), self.m(x), self.g(x)",
        {"x": "torch.randint(0, 50, (9, 13))"},
        init="self.e = nn.EmbeddingBag(50, 24, mode='sum')\nself.m = nn.EmbeddingBag(50, 20, mode='mean')\n"
        "self.g = nn.EmbeddingBag(50, 24, mode='max')",
    ),
    "picked_along": write_module(
        "return torch.take_along_dim(x, i, 1), i.remainder(7)",
        {"x": "torch.randn(5, 17)", "i": "torch.randint(0, 17, (5, 11))"},
    ),
    "spreads": write_module(
        "return x.var(-1, keepdim=True), x.std(1, keepdim=True), torch.var_mean(x, dim=1, keepdim=True),"
        " torch.std_mean(x, -1)[0], x.var((2, 3))",
        ACROSS,
    ),
    "transposed": write_module(
        "return self.a(x), self.b(x), self.c(x)",
        IMAGE,
        init="self.a = nn.ConvTranspose2d(6, 4, 3)\n"
        "self.b = nn.ConvTranspose2d(6, 4, 3, stride=2, padding=1, output_padding=1)\n"
        "self.c = nn.ConvTranspose2d(6, 6, (2, 4), stride=(2, 3), groups=6, bias=False)",
    ),
    "softmax_across": write_module(
        "return torch.softmax(x, 1), F.log_softmax(x * 3, 1), F.normalize(x, dim=1)", ACROSS
    ),
    "reductions_across": write_module(
        "return x.sum(1), x.amax(1), (x > 0).any(1), x.prod(1), x.argmax(1), x.sum((0, 1))", ACROSS
    ),
    "totals_across": write_module(
        "return F.cross_entropy(x, t), torch.softmax(x, 1).amax(1).sum()",
        ACROSS | {"t": "torch.randint(0, 37, (3, 6, 7))"},
    ),
    "half_across": write_module(
        "return torch.softmax(x, dim=1), x.sum(1)", {"x": "torch.randn(3, 37, 6, 7).bfloat16()"}
    ),
    "joined_across": write_module(
        "return torch.cat((x, y * 2), 1).softmax(1)", ACROSS | {"y": "torch.randn(3, 5, 6, 7)"}
    ),
    "norm_across": write_module(
        "return self.norm(x.movedim(1, -1)).movedim(-1, 1)", ACROSS, init="self.norm = nn.LayerNorm(37)"
    ),
}
"""Reference programs by name."""
