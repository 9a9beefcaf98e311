"""Small modules with matrix products, windows and moves, as reference programs."""

from tests.expert.zoo import IMAGE, write_module

ZOO_LINEAR = {
    "product": write_module("return x @ y", {"x": "torch.randn(45, 300)", "y": "torch.randn(300, 83)"}),
    "product_of_many_blocks": write_module(
        "return x @ y", {"x": "torch.randn(131, 530)", "y": "torch.randn(530, 1100)"}
    ),
    "linear_gelu": write_module(
        "return F.gelu(self.layer(x)) + x",
        {"x": "torch.randn(3, 17, 40)"},
        init="self.layer = nn.Linear(40, 40)",
    ),
    "product_scaled_and_added": write_module(
        "return torch.addmm(b, x, y, beta=0.5, alpha=2)",
        {"b": "torch.randn(9)", "x": "torch.randn(7, 5)", "y": "torch.randn(5, 9)"},
    ),
    "products_of_batches": write_module(
        "return torch.softmax(x @ x.transpose(1, 2), -1) @ x", {"x": "torch.randn(7, 33, 21)"}
    ),
    "broadcast_products": write_module(
        "return x @ self.w",
        {"x": "torch.randn(5, 2, 9, 12)"},
        init="self.w = nn.Parameter(torch.randn(2, 12, 10))",
    ),
    "product_of_a_sum": write_module(
        "return (x + y) @ y.transpose(1, 2)", {"x": "torch.randn(2, 5, 8)", "y": "torch.randn(2, 5, 8)"}
    ),
    "product_of_strided": write_module("return x[:, ::2] @ x[::2, :9].T", {"x": "torch.randn(12, 18)"}),
    "attention": write_module(
        "q, k, v = self.p(x).view(2, 16, 3, 4, 8).permute(2, 0, 3, 1, 4)\n"
        "y = F.scaled_dot_product_attention(q, k, v, is_causal=True)\n"
        "return y.transpose(1, 2).reshape(2, 16, 32)",
        {"x": "torch.randn(2, 16, 32)"},
        init="self.p = nn.Linear(32, 96)",
    ),
    "convolution_norm": write_module(
        "return F.relu(self.norm(self.conv(x)))",
        IMAGE,
        init="self.conv = nn.Conv2d(6, 9, 3, padding=1, stride=2)\nself.norm = nn.BatchNorm2d(9)",
    ),
    "convolution_groups": write_module(
        "return self.conv(x)",
        IMAGE,
        init="self.conv = nn.Conv2d(6, 12, (3, 2), padding=(1, 0), dilation=(1, 2), groups=3, bias=False)",
    ),
    "convolution_points": write_module("return self.conv(x)", IMAGE, init="self.conv = nn.Conv2d(6, 12, 1)"),
    "convolution_channels": write_module(
        "return F.silu(self.conv(x))", IMAGE, init="self.conv = nn.Conv2d(6, 6, 3, padding=1, groups=6)"
    ),
    "convolution_line": write_module(
        "return self.conv(x)", {"x": "torch.randn(2, 3, 30)"}, init="self.conv = nn.Conv1d(3, 5, 4, stride=3)"
    ),
    "convolution_volume": write_module(
        "return self.conv(x)",
        {"x": "torch.randn(2, 3, 5, 6, 7)"},
        init="self.conv = nn.Conv3d(3, 4, 3, padding=1)",
    ),
    "pools": write_module(
        "return F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, (5, 1)),"
        " F.avg_pool2d(x, 3, 1, 1), F.avg_pool2d(x, 2, divisor_override=3)",
        {"x": "torch.randn(2, 3, 10, 7)"},
    ),
    "instance_norm": write_module("return F.instance_norm(x)", IMAGE),
    "turned_and_repeated": write_module("return x.flip(3), x.flip((1, 2)), x.repeat(2, 1, 3, 1)", IMAGE),
    "padded": write_module(
        "return F.pad(x, (1, 2, -1, 3), value=2.5), F.pad(x, (2, 1, 1, 2), mode='reflect')", IMAGE
    ),
    "picked": write_module(
        "return x.index_select(2, self.i), x[:, :, self.i, self.i], x[:, self.i, :, self.i]",
        IMAGE,
        init="self.register_buffer('i', torch.tensor([3, 1, 1]), persistent=False)",
    ),
    "upsampled": write_module(
        "return F.interpolate(x, scale_factor=2, mode='bilinear'), F.interpolate(x, scale_factor=2)", IMAGE
    ),
    "hyperbolic": write_module("return torch.cosh(x) + torch.tan(x * 0.3), torch.acosh(x.abs() + 1)", IMAGE),
    "any_and_all": write_module(
        "return (x > 1).any(dim=-1, keepdim=True), (x > -2).all(), (x * 3).long().amax(-1)", IMAGE
    ),
}
"""Reference programs by name."""
