"""Networks on sequences, sound, points and tables."""

from collections.abc import Callable

import numpy as np

from architectures.net import Net


def pvt(net: Net) -> list[str]:
    """A pyramid vision transformer: keys and values of a smaller image."""
    x, size, side = net.input("image", 3, 64, 64), 0, 64
    for size, patch, heads, reduce in ((64, 4, 1, 4), (96, 2, 3, 2)):
        side //= patch
        x = net.conv(x, size, patch, patch, plain=True, pads=[0] * 4)
        rows = net.layer_norm(net.tokens(x), size)
        for _ in range(2):
            y = net.layer_norm(rows, size)
            less = net.conv(net.image(y, size, side), size, reduce, reduce, plain=True, pads=[0] * 4)
            memory = net.layer_norm(net.tokens(less), size)
            rows = net.add(rows, net.attention(y, size, heads, memory))
            y = net.linear(net.layer_norm(rows, size), size, 4 * size, "Gelu")
            rows = net.add(rows, net.linear(y, 4 * size, size))
        x = net.image(rows, size, side)
    return [net.classify(x)]


def levit(net: Net) -> list[str]:
    """LeViT: a convolutional stem, attention with HardSwish and biases of positions."""
    x = net.input("image", 3, 64, 64)
    for outputs in (32, 64, 128):
        x = net.conv(x, outputs, stride=2, act="HardSwish")
    rows = net.tokens(x)
    for _ in range(3):
        q, k, v = (net.linear(rows, 128, 128) for _ in range(3))
        q, k = net.heads(q, 4, 32), net.heads(k, 4, 32, (0, 2, 3, 1))
        scores = net.op("Mul", net.op("MatMul", q, k), net.constant(32**-0.5))
        scores = net.op("Add", scores, net.random(1, 4, 64, 64, deviation=0.3))
        y = net.op("MatMul", net.op("Softmax", scores, axis=-1), net.heads(v, 4, 32))
        y = net.act(net.shape(net.op("Transpose", y, perm=[0, 2, 1, 3]), 0, -1, 128), "HardSwish")
        rows = net.add(rows, net.linear(y, 128, 128))
        rows = net.add(rows, net.linear(net.linear(rows, 128, 256, "HardSwish"), 256, 128))
    return [net.gemm(net.op("ReduceMean", rows, axes=[1], keepdims=0), 100, inputs=128)]


def gpt(net: Net) -> list[str]:
    """A decoder in front of which all is masked that comes later; Gelu of tanh."""
    size, length, words = 128, 48, 1000
    ids = net.input("ids", length, below=words)
    x = net.op("Gather", net.random(words, size, deviation=0.5), ids)
    x = net.add(x, net.random(length, size, deviation=0.1))
    mask = net.constant(np.triu(np.full((length, length), -1e4), 1)[None, None])
    for _ in range(3):
        x = net.add(x, net.attention(net.layer_norm(x, size), size, 4, mask=mask))
        y = net.linear(net.layer_norm(x, size), size, 4 * size, "TanhGelu")
        x = net.add(x, net.linear(y, 4 * size, size))
    return [net.linear(net.layer_norm(x, size), size, words, bias=False)]


def llama(net: Net) -> list[str]:
    """A decoder with root-mean-square norms, rotated positions and a gated product of SiLU."""
    size, length, words, heads = 128, 32, 1000, 4
    each = size // heads
    x = net.op("Gather", net.random(words, size, deviation=0.5), net.input("ids", length, below=words))
    angle = np.outer(np.arange(length), 1e4 ** -np.linspace(0, 1, each // 2, endpoint=False))
    cos, sin = (net.constant(np.tile(f(angle), 2)[None, None]) for f in (np.cos, np.sin))
    mask = net.constant(np.triu(np.full((length, length), -1e4), 1)[None, None])

    def rotated(x: str) -> str:
        first, second = net.parts(x, 2, axis=3)
        turned = net.join(net.op("Neg", second), first, axis=3)
        return net.add(net.op("Mul", x, cos), net.op("Mul", turned, sin))

    for _ in range(3):
        y = net.rms_norm(x, size)
        q, k, v = (net.heads(net.linear(y, size, size, bias=False), heads, each) for _ in range(3))
        k = net.op("Transpose", rotated(k), perm=[0, 1, 3, 2])
        scores = net.op("Div", net.op("MatMul", rotated(q), k), net.constant(float(np.sqrt(each))))
        y = net.op("MatMul", net.op("Softmax", net.op("Add", scores, mask), axis=-1), v)
        y = net.shape(net.op("Transpose", y, perm=[0, 2, 1, 3]), 0, -1, size)
        x = net.add(x, net.linear(y, size, size, bias=False))
        y = net.rms_norm(x, size)
        gate = net.linear(y, size, 344, "SiLU", bias=False)
        up = net.linear(y, size, 344, bias=False)
        x = net.add(x, net.linear(net.op("Mul", gate, up), 344, size, bias=False))
    return [net.linear(net.rms_norm(x, size), size, words, bias=False)]


def conformer(net: Net) -> list[str]:
    """Conformer: half steps of two layers, attention, and a gated depthwise convolution over time."""
    size, rows = 96, net.linear(net.input("features", 100, 80), 80, 96)

    def half(x: str) -> str:
        y = net.linear(net.linear(net.layer_norm(x, size), size, 4 * size, "SiLU"), 4 * size, size)
        return net.add(x, net.op("Mul", y, net.constant(0.5)))

    for _ in range(2):
        rows = half(rows)
        rows = net.add(rows, net.attention(net.layer_norm(rows, size), size, 4))
        y = net.op("Transpose", net.layer_norm(rows, size), channels=size, perm=[0, 2, 1])
        a, gate = net.parts(net.conv(y, 2 * size, 1, rank=1, plain=True), 2)
        y = net.op("Mul", a, net.op("Sigmoid", gate))
        y = net.conv(y, size, 15, groups=size, act="SiLU", rank=1)
        y = net.op("Transpose", net.conv(y, size, 1, rank=1, plain=True), perm=[0, 2, 1])
        rows = net.layer_norm(half(net.add(rows, y)), size)
    return [net.linear(rows, size, 64)]


def pointnet(net: Net) -> list[str]:
    """PointNet: the same layers on each point, the largest of each feature."""
    x = net.input("points", 3, 256)
    for outputs in (64, 64, 128, 256):
        x = net.conv(x, outputs, 1, act="Relu", rank=1)
    x = net.op("ReduceMax", x, axes=[2], keepdims=0)
    return [net.gemm(net.gemm(x, 128, "Relu"), 40)]


def conv_tasnet(net: Net) -> list[str]:
    """Conv-TasNet: an encoder of sound, dilated depthwise convolutions with PRelu, masks, a decoder."""
    wave = net.input("wave", 1, 1600)
    weight = net.random(64, 1, 16, deviation=0.2)
    code = net.act(net.op("Conv", wave, weight, channels=64, strides=[8], kernel_shape=[16]), "Relu")
    x = net.conv(code, 64, 1, rank=1)
    for dilation in (1, 2, 4, 8, 16):
        y = net.conv(x, 128, 1, act="PRelu", rank=1)
        y = net.conv(y, 128, 3, groups=128, act="PRelu", dilation=dilation, rank=1)
        x = net.add(x, net.conv(y, 64, 1, rank=1))
    mask = net.act(net.conv(x, 64, 1, rank=1, plain=True), "Sigmoid")
    y = net.op("Mul", code, mask)
    return [net.op("ConvTranspose", y, net.random(64, 1, 16, deviation=0.2), strides=[8])]


def crnn(net: Net) -> list[str]:
    """A reader of text lines: convolutions, then LSTM along the line."""
    x = net.input("line", 1, 32, 96)
    for outputs in (32, 64, 128):
        x = net.max_pool(net.conv(x, outputs, act="Relu"))
    x = net.conv(x, 128, (4, 1), act="Relu", plain=True, pads=[0] * 4)
    rows = net.op("Transpose", net.op("Squeeze", x, net.constant([2])), perm=[2, 0, 1])
    w, r = (net.random(1, 256, width, deviation=0.1) for width in (128, 64))
    y = net.op("LSTM", rows, w, r, net.random(1, 512, deviation=0.05), hidden_size=64)
    y = net.op("Transpose", net.op("Squeeze", y, net.constant([1])), perm=[1, 0, 2])
    return [net.op("LogSoftmax", net.linear(y, 64, 80), axis=-1)]


def ecapa(net: Net) -> list[str]:
    """ECAPA-TDNN: one-dimensional Res2 blocks with squeeze and excitation, statistics that attend."""
    x = net.conv(net.input("features", 40, 120), 128, 5, act="Relu", rank=1)
    kept: list[str] = []
    for dilation in (2, 3, 4):
        parts = net.parts(net.conv(x, 128, 1, act="Relu", rank=1), 4)
        done = [parts[0]]
        for part in parts[1:]:
            done.append(net.conv(net.add(part, done[-1]), 32, 3, act="Relu", dilation=dilation, rank=1))
        y = net.conv(net.join(*done), 128, 1, act="Relu", rank=1)
        mean = net.op("ReduceMean", y, axes=[2], keepdims=1)
        gate = net.conv(net.conv(mean, 32, 1, act="Relu", rank=1, plain=True), 128, 1, rank=1, plain=True)
        x = net.add(x, net.op("Mul", y, net.op("Sigmoid", gate)))
        kept.append(x)
    x = net.conv(net.join(*kept), 256, 1, act="Relu", rank=1)
    scores = net.conv(net.conv(x, 64, 1, act="Tanh", rank=1), 256, 1, rank=1, plain=True)
    weights = net.op("Softmax", scores, axis=2)
    mean = net.op("ReduceSum", net.op("Mul", x, weights), net.constant([2]), keepdims=0)
    square = net.op("ReduceSum", net.op("Mul", net.op("Mul", x, x), weights), net.constant([2]), keepdims=0)
    spread = net.op("Sqrt", net.op("Add", square, net.constant(1.0)))
    return [net.gemm(net.join(mean, spread), 96)]


def dlrm(net: Net) -> list[str]:
    """DLRM: tables of embeddings, layers on numbers, products of each with each."""
    dense, size = net.input("dense", 13), 32
    for outputs in (256, 128, size):
        dense = net.gemm(dense, outputs, "Relu")
    ids = net.input("ids", 8, below=200)
    rows = net.op("Gather", net.random(200, size, deviation=0.5), ids)
    all_rows = net.op("Concat", net.shape(dense, -1, 1, size), rows, axis=1)
    pairs = net.op("MatMul", all_rows, net.op("Transpose", all_rows, perm=[0, 2, 1]))
    flat = net.op("Flatten", pairs, channels=81)
    x = net.op("Concat", dense, flat, channels=81 + size, axis=1)
    for outputs in (512, 256, 128):
        x = net.gemm(x, outputs, "Relu")
    return [net.act(net.gemm(x, 1), "Sigmoid")]


def matchbox(net: Net) -> list[str]:
    """MatchboxNet: separable convolutions over time, for a few spoken words."""
    x = net.conv(net.input("features", 64, 98), 96, 11, 2, act="Relu", rank=1)
    for kernel in (13, 15, 17):
        y = x
        for _ in range(2):
            y = net.conv(net.conv(y, net.channels[y], kernel, groups=net.channels[y], rank=1), 64, 1, rank=1)
            y = net.act(y, "Relu")
        x = net.act(net.add(y, net.conv(x, 64, 1, rank=1)), "Relu")
    x = net.conv(x, 128, 29, dilation=2, act="Relu", rank=1)
    return [net.classify(net.conv(x, 128, 1, act="Relu", rank=1), 12)]


NETWORKS: dict[str, Callable[[Net], list[str]]] = {
    build.__name__: build
    for build in (pvt, levit, gpt, llama, conformer, pointnet, conv_tasnet, crnn, ecapa, dlrm, matchbox)
}
