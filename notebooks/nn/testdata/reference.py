"""Computes the numbers that nn's tests compare with, by PyTorch in float64, and writes them to reference.json.

    pip install torch torchvision
    python notebooks/nn/testdata/reference.py

Inputs and weights come from fill(), which the Go tests repeat: no data file is needed.
"""

import json
from pathlib import Path

import numpy as np
import torch
import torchvision
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)


def fill(shape, seed, scale=1.0):
    """Values in [-scale/2, scale/2) by a multiplicative hash of the flat index."""
    n = int(np.prod(shape))
    i = np.arange(n, dtype=np.uint64)
    h = (i * np.uint64(2654435761) + np.uint64(seed) * np.uint64(40503) + np.uint64(12345)) % np.uint64(1 << 32)
    h ^= h >> np.uint64(15)
    h = (h * np.uint64(2246822519)) % np.uint64(1 << 32)
    h ^= h >> np.uint64(13)
    u = h.astype(np.float64) / float(1 << 32) - 0.5
    return torch.tensor((u * scale).astype(np.float32).astype(np.float64).reshape(shape))


def summary(t):
    """What a tensor is compared by: sum, sum of squares, and nine values spread over it."""
    f = t.detach().reshape(-1)
    at = [int(k * (f.numel() - 1) // 8) for k in range(9)]
    return {"shape": list(t.shape), "sum": f.sum().item(), "squares": (f * f).sum().item(), "at": at, "values": [f[k].item() for k in at]}


def conv_case(n, cin, h, w, cout, k, stride, pad, bias):
    x = fill((n, cin, h, w), 1).requires_grad_()
    weight = fill((cout, cin, k, k), 2).requires_grad_()
    b = fill((cout,), 3).requires_grad_() if bias else None
    y = F.conv2d(x, weight, b, stride=stride, padding=pad)
    dy = fill(tuple(y.shape), 4)
    y.backward(dy)
    out = {"args": [n, cin, h, w, cout, k, stride, pad, int(bias)], "y": summary(y), "dx": summary(x.grad), "dw": summary(weight.grad)}
    if bias:
        out["db"] = summary(b.grad)
    return out


def batchnorm_case(n, c, h, w):
    x = fill((n, c, h, w), 5, 4.0).requires_grad_()
    m = torch.nn.BatchNorm2d(c)
    with torch.no_grad():
        m.weight.copy_(fill((c,), 6) + 1)
        m.bias.copy_(fill((c,), 7))
    y = m(x)
    dy = fill(tuple(y.shape), 8)
    y.backward(dy)
    m.eval()
    return {"args": [n, c, h, w], "y": summary(y), "dx": summary(x.grad), "dw": summary(m.weight.grad), "db": summary(m.bias.grad),
            "mean": summary(m.running_mean), "var": summary(m.running_var), "eval": summary(m(x))}


def pool_case(n, c, h, w, k, stride, pad):
    x = fill((n, c, h, w), 9).requires_grad_()
    y = F.max_pool2d(x, k, stride, pad)
    dy = fill(tuple(y.shape), 10)
    y.backward(dy)
    return {"args": [n, c, h, w, k, stride, pad], "y": summary(y), "dx": summary(x.grad)}


def loss_case(n, classes):
    x = fill((n, classes), 11, 6.0).requires_grad_()
    target = torch.tensor([(7 * i + 3) % classes for i in range(n)])
    loss = F.cross_entropy(x, target)
    loss.backward()
    return {"args": [n, classes], "loss": loss.item(), "dx": summary(x.grad)}


def resnet_case(n, size, classes):
    model = torchvision.models.resnet18(weights=None, num_classes=classes)
    names = []
    with torch.no_grad():
        for i, (name, p) in enumerate(model.named_parameters()):
            names.append(name)
            if p.dim() > 1:
                fan = p[0].numel()
                p.copy_(fill(tuple(p.shape), 100 + i, 2 * (6 / fan) ** 0.5))
            elif name.endswith("weight"):
                p.copy_(fill(tuple(p.shape), 100 + i, 0.2) + 1)
            else:
                p.copy_(fill(tuple(p.shape), 100 + i, 0.2))
    model.train()
    x = fill((n, 3, size, size), 99, 2.0).requires_grad_()
    y = model(x)
    target = torch.tensor([(7 * i + 3) % classes for i in range(n)])
    loss = F.cross_entropy(y, target)
    loss.backward()
    return {"args": [n, size, classes], "y": summary(y), "loss": loss.item(), "dx": summary(x.grad),
            "grads": [{"name": name, **summary(p.grad)} for name, p in model.named_parameters()]}


def sgd_case():
    p = fill((6,), 12).requires_grad_()
    opt = torch.optim.SGD([p], lr=0.1, momentum=0.9, weight_decay=0.01)
    for step in range(3):
        p.grad = fill((6,), 13 + step)
        opt.step()
    return {"p": summary(p)}


if __name__ == "__main__":
    out = {
        "torch": torch.__version__,
        "conv": [conv_case(2, 3, 9, 8, 4, 3, 1, 1, True), conv_case(1, 2, 11, 11, 3, 7, 2, 3, False), conv_case(2, 4, 6, 6, 5, 1, 1, 0, False), conv_case(2, 4, 7, 7, 5, 1, 2, 0, True)],
        "batchnorm": [batchnorm_case(3, 4, 5, 6)],
        "maxpool": [pool_case(2, 3, 9, 10, 3, 2, 1), pool_case(1, 2, 8, 8, 2, 2, 0)],
        "loss": [loss_case(5, 10)],
        "sgd": sgd_case(),
        "resnet18": [resnet_case(2, 64, 10), resnet_case(5, 224, 1000)],
    }
    path = Path(__file__).with_name("reference.json")
    path.write_text(json.dumps(out, indent=1) + "\n")
    print("wrote", path)
