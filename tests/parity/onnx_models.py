"""Networks that torchvision does not have, as their papers define them."""
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
    layers = [SamePadConv(ins, outs, kernel, stride, groups=groups, bias=False), nn.BatchNorm2d(outs, eps=1e-3)]
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
