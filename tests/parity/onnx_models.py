"""Networks that torchvision does not have, as their papers define them."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_norm(ins, outs, kernel, stride=1, groups=1, activation=nn.ReLU):
    layers = [nn.Conv2d(ins, outs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outs)]
    return nn.Sequential(*layers, *([activation()] if activation else []))


def mobilenet_v1(classes):
    """Howard et al. 2017: depthwise and pointwise convolutions in turn."""
    layers, ins = [conv_norm(3, 32, 3, 2)], 32
    for outs, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [
            (1024, 2), (1024, 1)]:
        layers += [conv_norm(ins, ins, 3, stride, ins), conv_norm(ins, outs, 1)]
        ins = outs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(ins, classes))


class SamePadConv(nn.Conv2d):
    """TensorFlow's padding: computed from the input's size, the odd zero at the end."""

    def forward(self, x):
        pads = []
        for size, kernel, stride in zip(x.shape[:1:-1], self.kernel_size[::-1], self.stride[::-1]):
            outputs = (size + stride - 1) // stride
            total = max((outputs - 1) * stride + kernel - size, 0)
            pads += [total // 2, total - total // 2]
        return F.conv2d(F.pad(x, pads), self.weight, self.bias, self.stride, 0, self.dilation, self.groups)


def same_conv_norm(ins, outs, kernel, stride=1, groups=1, activation=True):
    """As timm exports it: a convolution without a stride has as many zeros on each side, whatever the input's size."""
    conv = SamePadConv if stride > 1 else nn.Conv2d
    padding = 0 if stride > 1 else kernel // 2
    layers = [conv(ins, outs, kernel, stride, padding, groups=groups, bias=False), nn.BatchNorm2d(outs, eps=1e-3)]
    return nn.Sequential(*layers, *([nn.ReLU6()] if activation else []))


class LiteBlock(nn.Module):
    """An inverted residual without squeeze and excite."""

    def __init__(self, ins, outs, kernel, stride, expand):
        super().__init__()
        wide = ins * expand
        self.skips = stride == 1 and ins == outs
        self.layers = nn.Sequential(
            *([same_conv_norm(ins, wide, 1)] if expand > 1 else []),
            same_conv_norm(wide, wide, kernel, stride, wide),
            same_conv_norm(wide, outs, 1, activation=False))

    def forward(self, x):
        return x + self.layers(x) if self.skips else self.layers(x)


def efficientnet_lite0(classes):
    blocks, ins = [same_conv_norm(3, 32, 3, 2)], 32
    for outs, kernel, stride, expand, repeats in [(16, 3, 1, 1, 1), (24, 3, 2, 6, 2), (40, 5, 2, 6, 2),
                                                  (80, 3, 2, 6, 3), (112, 5, 1, 6, 3), (192, 5, 2, 6, 4),
                                                  (320, 3, 1, 6, 1)]:
        for i in range(repeats):
            blocks.append(LiteBlock(ins, outs, kernel, stride if i == 0 else 1, expand))
            ins = outs
    return nn.Sequential(*blocks, same_conv_norm(ins, 1280, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(1280, classes))


class Attention(nn.Module):
    """Multi-head attention over [N, L, F], as timm writes it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        n, length, width = x.shape
        qkv = self.qkv(x).reshape(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attention = ((q @ k.transpose(-2, -1)) * self.scale).softmax(dim=-1)
        return self.proj((attention @ v).transpose(1, 2).reshape(n, length, width))


class EncoderBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attn = nn.LayerNorm(width, eps=1e-6), Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    """Dosovitskiy et al. 2021; patches of 16, a class token, learned positions."""

    def __init__(self, classes, width=192, heads=3, depth=3, size=64):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, width, 16, 16)
        self.cls_token = nn.Parameter(torch.randn(1, 1, width) * 0.5)
        self.pos_embed = nn.Parameter(torch.randn(1, (size // 16) ** 2 + 1, width) * 0.5)
        self.blocks = nn.Sequential(*[EncoderBlock(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


def vit_tiny(classes):
    return VisionTransformer(classes)


class BatchSecond(nn.Module):
    """PyTorch's own attention, whose rows stand before the batch, and the mean of the rows."""

    def __init__(self, classes, width=48, heads=4):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, width, 16, 16)
        self.attn = nn.MultiheadAttention(width, heads)
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.scale = nn.Parameter(torch.rand(width) + 0.5)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).permute(2, 0, 1)
        x = x + self.attn(x, x, x, need_weights=False)[0]
        x = self.norm(x).transpose(0, 1) * self.scale
        return self.head(x.mean(1))


class OddOperators(nn.Module):
    """What few classifiers use."""

    def __init__(self, classes):
        super().__init__()
        self.stem, self.slopes = nn.Conv2d(3, 8, 3, 2), nn.PReLU(8)
        self.left, self.right = nn.Conv2d(4, 6, 3), nn.Conv2d(4, 6, 3)
        self.one_slope = nn.PReLU()
        self.gate, self.depth = nn.Conv2d(6, 6, 1), nn.Conv2d(6, 6, 1)
        self.head = nn.Linear(24, classes)

    def forward(self, x):
        x = self.slopes(self.stem(F.pad(x, (1, 0, 1, 0), value=0.25)))
        a, b = x.split(4, dim=1)
        a, b = self.left(F.pad(a, (1, 1, 1, 1))), self.right(b)[:, :, 1:-1, ::2]
        a = torch.clamp(F.pad(a[:, :, 2:-2, :], (0, 0, 0, 0, 1, 1)), -0.9, 1.3)[:, 1:7, :, ::2]
        a = a[:, :, :b.shape[2], :b.shape[3]]
        b = self.one_slope(b[:, :, :a.shape[2], :])
        x = (a - b) / (2 - torch.clamp(self.gate(b) * 0.2 + 0.5, 0, 1))
        x = 1 / (1.5 + x * x) - self.depth(x) ** 2
        x = F.adaptive_avg_pool2d(x, 1) + x.reshape(x.shape[0], 6, -1)[:, :, :2].mean(2)[..., None, None]
        x = torch.cat((x, -x, x * 2, x), 1).squeeze(3).squeeze(2)
        return F.log_softmax(self.head(x), dim=1)


class Tags(nn.Module):
    """A classifier by sigmoids, and a pool with gaps."""

    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Conv2d(3, 12, 3, 2)
        self.classifier = nn.Conv2d(12, classes, 1)

    def forward(self, x):
        x = F.max_pool2d(torch.tanh(self.stem(x)), 3, 2, padding=1, dilation=2)
        return torch.flatten(torch.sigmoid(F.adaptive_avg_pool2d(self.classifier(x), 1)), 1)


class WindowProducts(nn.Module):
    """Products written as equations: over windows, with axes that turn, and with a matrix."""

    turned = {"mix"}  # units are rows if it becomes a layer

    def __init__(self, classes, width=24):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, width, 4, 4)
        self.mix = nn.Parameter(torch.randn(width, 20) * 0.2)
        self.back = nn.Parameter(torch.randn(width, 20) * 0.2)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patch_embed(x)
        a = torch.einsum("bchw,cd->bhwd", x, self.mix)
        scores = torch.einsum("bhwd,bgwd->bwhg", a, torch.tanh(a))
        y = torch.einsum("bwhg,bgwd->bdhw", scores * 0.1, a)
        y = torch.einsum("bdhw,cd->bhcw", y, self.back)
        return self.head(torch.einsum("bhcw->bchw", y).mean((2, 3)))
