"""Networks on images: each a function that writes itself into a `Net` and returns its outputs."""

from collections.abc import Callable

from architectures.net import Net


def vgg(net: Net) -> list[str]:
    """VGG: convolutions of 3x3 and MaxPools, two wide Gemms."""
    x = net.input("image", 3, 64, 64)
    for outputs, count in ((32, 1), (64, 1), (128, 2), (128, 2)):
        for _ in range(count):
            x = net.conv(x, outputs, act="Relu")
        x = net.max_pool(x)
    x = net.op("Flatten", x)
    x = net.gemm(x, 512, "Relu", inputs=128 * 16)
    return [net.gemm(x, 100)]


def inception(net: Net) -> list[str]:
    """Inception v3: branches of 1x7 and 7x1, AveragePool beside them, joined."""
    x = net.conv(net.input("image", 3, 75, 75), 32, stride=2, act="Relu")
    x = net.max_pool(net.conv(x, 48, act="Relu"), 3, 2)
    for width in (32, 48, 64):
        a = net.conv(x, width, 1, act="Relu")
        b = net.conv(net.conv(x, width, 1, act="Relu"), width, (1, 7), act="Relu")
        b = net.conv(b, width, (7, 1), act="Relu")
        c = net.conv(net.conv(x, width, 1, act="Relu"), width, 3, act="Relu")
        d = net.conv(net.mean_pool(x, 3), width, 1, act="Relu")
        x = net.join(a, b, net.conv(c, width, 3, act="Relu"), d)
    return [net.classify(x)]


def mnasnet(net: Net) -> list[str]:
    """MnasNet: inverted residuals of 3x3 and 5x5, some with squeeze and excitation."""
    x = net.conv(net.input("image", 3, 64, 64), 16, stride=2, act="Relu")
    for outputs, kernel, stride, excite in (
        (24, 3, 2, 0),
        (24, 3, 1, 0),
        (40, 5, 2, 1),
        (40, 5, 1, 1),
        (80, 3, 2, 0),
    ):
        wide = net.conv(x, 4 * net.channels[x], 1, act="Relu")
        wide = net.conv(wide, net.channels[wide], kernel, stride, net.channels[wide], "Relu")
        if excite:
            wide = net.squeeze_excite(wide, 16)
        y = net.conv(wide, outputs, 1)
        x = net.add(x, y) if stride == 1 else y
    return [net.classify(net.conv(x, 320, 1, act="Relu"))]


def mobilenet(net: Net) -> list[str]:
    """MobileNet v2 with HardSwish in its narrow half, as v3 has it in the wide one: inverted residuals alone."""
    x = net.conv(net.input("image", 3, 64, 64), 16, stride=2, act="HardSwish")
    for outputs, stride, act in (
        (16, 1, "Relu6"),
        (24, 2, "Relu6"),
        (24, 1, "HardSwish"),
        (40, 2, "HardSwish"),
        (64, 1, "Relu6"),
    ):
        wide = net.conv(x, 4 * net.channels[x], 1, act=act)
        y = net.conv(net.conv(wide, net.channels[wide], 3, stride, net.channels[wide], act), outputs, 1)
        x = net.add(x, y) if net.channels[x] == outputs and stride == 1 else y
    return [net.classify(net.conv(x, 160, 1, act="HardSwish"), 10)]


def ghostnet(net: Net) -> list[str]:
    """GhostNet: half of the channels of a convolution are made by a depthwise one from the other half."""
    x = net.conv(net.input("image", 3, 64, 64), 16, stride=2, act="Relu")

    def ghost(x: str, outputs: int, act: str) -> str:
        first = net.conv(x, outputs // 2, 1, act=act)
        return net.join(first, net.conv(first, outputs // 2, 3, groups=outputs // 2, act=act))

    for outputs, stride in ((16, 1), (24, 2), (24, 1), (40, 2), (40, 1), (80, 2)):
        y = ghost(x, 3 * net.channels[x], "Relu")
        if stride == 2:
            y = net.conv(y, net.channels[y], 3, 2, net.channels[y])
        y = ghost(net.squeeze_excite(y, 16, "HardSigmoid") if outputs == 40 else y, outputs, "")
        x = net.add(x, y) if net.channels[x] == outputs and stride == 1 else y
    return [net.classify(x)]


def hrnet(net: Net) -> list[str]:
    """HRNet: two resolutions side by side that are added to one another; heatmaps."""
    high = net.conv(net.input("image", 3, 64, 64), 32, stride=2, act="Relu")
    low = net.conv(high, 64, stride=2, act="Relu")
    for _ in range(3):
        for _ in range(2):
            high = net.act(net.add(high, net.conv(net.conv(high, 32, act="Relu"), 32)), "Relu")
            low = net.act(net.add(low, net.conv(net.conv(low, 64, act="Relu"), 64)), "Relu")
        up = net.resize(net.conv(low, 32, 1), 2)
        down = net.conv(high, 64, stride=2)
        high, low = net.act(net.add(high, up), "Relu"), net.act(net.add(low, down), "Relu")
    return [net.conv(high, 17, 1, plain=True)]


def xception(net: Net) -> list[str]:
    """Xception: a Relu in front of each depthwise convolution and the pointwise one behind it."""
    x = net.conv(net.input("image", 3, 64, 64), 32, stride=2, act="Relu")

    def separable(x: str, outputs: int) -> str:
        return net.conv(net.conv(x, net.channels[x], groups=net.channels[x]), outputs, 1)

    for outputs in (64, 128, 128):
        y = separable(net.act(separable(x, outputs), "Relu"), outputs)
        x = net.add(net.max_pool(y, 3, 2), net.conv(x, outputs, 1, 2))
        x = net.act(x, "Relu")
    return [net.classify(net.act(separable(x, 256), "Relu"))]


def darknet(net: Net) -> list[str]:
    """Darknet with LeakyRelu and two heads, as the tiny detectors are."""
    x, kept = net.conv(net.input("image", 3, 96, 96), 16, act="LeakyRelu"), ""
    for outputs in (32, 64, 128, 256):
        x = net.conv(net.max_pool(x), outputs, act="LeakyRelu")
        kept = x if outputs == 128 else kept
    x = net.conv(x, 128, 1, act="LeakyRelu")
    coarse = net.conv(net.conv(x, 256, act="LeakyRelu"), 75, 1, plain=True)
    up = net.resize(net.conv(x, 64, 1, act="LeakyRelu"), 2)
    fine = net.conv(net.conv(net.join(up, kept), 128, act="LeakyRelu"), 75, 1, plain=True)
    return [coarse, fine]


def res2net(net: Net) -> list[str]:
    """Res2Net: parts of the channels, each convolution adds the one before."""
    x = net.max_pool(net.conv(net.input("image", 3, 64, 64), 32, 7, 2, act="Relu"), 3, 2)
    x = net.conv(x, 128, 1, act="Relu")
    for _ in range(4):
        parts = net.parts(net.conv(x, 104, 1, act="Relu"), 4)
        done = [net.conv(parts[0], 26, act="Relu")]
        for part in parts[1:3]:
            done.append(net.conv(net.add(part, done[-1]), 26, act="Relu"))
        x = net.act(net.add(x, net.conv(net.join(*done, parts[3]), 128, 1)), "Relu")
    return [net.classify(x)]


def se_resnet(net: Net) -> list[str]:
    """A ResNet whose branches are scaled by squeeze and excitation."""
    x = net.conv(net.input("image", 3, 48, 48), 32, act="Relu")
    for outputs, stride in ((32, 1), (64, 2), (64, 1), (128, 2), (128, 1)):
        y = net.conv(net.conv(x, outputs, 3, stride, act="Relu"), outputs)
        y = net.squeeze_excite(y, outputs // 8)
        skip = x if stride == 1 else net.conv(x, outputs, 1, stride)
        x = net.act(net.add(y, skip), "Relu")
    return [net.classify(x)]


def poolformer(net: Net) -> list[str]:
    """PoolFormer: AveragePool less its input in place of attention, GroupNorm of one group, Gelu."""
    size = 64
    x = net.conv(net.input("image", 3, 64, 64), size, 7, 4, plain=True)

    def norm(x: str) -> str:
        flat = net.op(
            "InstanceNormalization", net.shape(x, 0, 1, -1), net.constant([1.0]), net.constant([0.0])
        )
        y = net.op("Reshape", flat, net.constant([0, size, 16, 16]))
        y = net.op("Mul", y, net.random(size, 1, 1, deviation=1))
        return net.op("Add", y, net.random(size, 1, 1, deviation=0.1), channels=size)

    for _ in range(4):
        y = norm(x)
        x = net.add(x, net.op("Sub", net.mean_pool(y, 3), y))
        y = net.conv(norm(x), 4 * size, 1, act="Gelu", plain=True)
        x = net.add(x, net.conv(y, size, 1, plain=True))
    return [net.classify(x)]


def convmixer(net: Net) -> list[str]:
    """ConvMixer: depthwise convolutions of 9x9 with Gelu in front of BatchNormalization."""
    x = net.conv(net.input("image", 3, 56, 56), 64, 7, 4, plain=True, pads=[0] * 4)
    x = net.batch_norm(net.act(x, "Gelu"))
    for _ in range(4):
        y = net.batch_norm(net.act(net.conv(x, 64, 9, groups=64, plain=True), "Gelu"))
        x = net.batch_norm(net.act(net.conv(net.add(x, y), 64, 1, plain=True), "Gelu"))
    return [net.classify(x)]


def repvgg(net: Net) -> list[str]:
    """RepVGG before its branches are merged: 3x3, 1x1 and the input, each normalized, added."""
    x = net.conv(net.input("image", 3, 64, 64), 32, stride=2, act="Relu")
    for outputs, stride in ((48, 2), (48, 1), (96, 2), (96, 1), (192, 2)):
        y = net.add(net.conv(x, outputs, 3, stride), net.conv(x, outputs, 1, stride))
        x = net.act(net.add(y, net.batch_norm(x)) if stride == 1 else y, "Relu")
    return [net.classify(x)]


def autoencoder(net: Net) -> list[str]:
    """A convolutional autoencoder: Elu on the way down, ConvTranspose and Relu on the way up."""
    x = net.input("image", 3, 64, 64)
    for outputs in (16, 32, 64):
        x = net.conv(x, outputs, 3, 2, act="Elu")
    x = net.conv(x, 64, act="Elu")
    for outputs in (32, 16, 8):
        weight = net.random(net.channels[x], outputs, 4, 4, deviation=0.05)
        bias = net.random(outputs, deviation=0.05)
        y = net.op("ConvTranspose", x, weight, bias, channels=outputs, strides=[2, 2], pads=[1] * 4)
        x = net.act(y, "Relu")
    return [net.act(net.conv(x, 3, plain=True), "Sigmoid")]


def edsr(net: Net) -> list[str]:
    """EDSR: residual blocks, DepthToSpace."""
    first = x = net.conv(net.input("image", 3, 32, 32), 32, plain=True)
    for _ in range(4):
        y = net.conv(net.conv(x, 32, act="Relu", plain=True), 32, plain=True)
        x = net.add(x, net.op("Mul", y, net.constant(0.1)))
    x = net.add(first, net.conv(x, 32, plain=True))
    x = net.op("DepthToSpace", net.conv(x, 128, plain=True), channels=32, blocksize=2, mode="CRD")
    return [net.conv(x, 3, plain=True)]


def fast_scnn(net: Net) -> list[str]:
    """Fast-SCNN: a deep and a shallow path, pyramid pooling, bilinear Resize."""
    x = net.conv(net.input("image", 3, 96, 96), 24, stride=2, act="Relu")
    x = net.conv(net.conv(x, 24, groups=24, stride=2, act="Relu"), 48, 1, act="Relu")
    deep = x
    for outputs, stride in ((64, 2), (64, 1), (96, 2), (96, 1)):
        y = net.conv(deep, 4 * net.channels[deep], 1, act="Relu")
        y = net.conv(net.conv(y, net.channels[y], 3, stride, net.channels[y], "Relu"), outputs, 1)
        deep = net.add(deep, y) if stride == 1 else y
    pooled = net.op("GlobalAveragePool", deep)
    pooled = net.resize(net.conv(pooled, 32, 1, act="Relu"), 6, "linear")
    halved = net.op("AveragePool", deep, kernel_shape=[2, 2], strides=[2, 2])
    halved = net.resize(net.conv(halved, 32, 1, act="Relu"), 2, "linear")
    deep = net.conv(net.join(deep, pooled, halved), 96, 1, act="Relu")
    deep = net.conv(net.resize(deep, 4, "linear"), 96, groups=96, act="Relu")
    both = net.act(net.add(net.conv(x, 96, 1), net.conv(deep, 96, 1)), "Relu")
    classes = net.conv(net.conv(both, 96, groups=96, act="Relu"), 19, 1, plain=True)
    return [net.resize(classes, 4, "linear")]


def retinanet(net: Net) -> list[str]:
    """A feature pyramid with two heads that all levels share in form, their scores through Sigmoid."""
    x, levels = net.conv(net.input("image", 3, 96, 96), 32, stride=2, act="Relu"), list[str]()
    for outputs in (64, 96, 128):
        y = net.conv(x, outputs, stride=2, act="Relu")
        x = net.act(net.add(y, net.conv(net.conv(y, outputs // 2, 1, act="Relu"), outputs)), "Relu")
        levels.append(net.conv(x, 48, 1, plain=True))
    levels[1] = net.add(levels[1], net.resize(levels[2], 2))
    levels[0] = net.add(levels[0], net.resize(levels[1], 2))
    scores, boxes = list[str](), list[str]()
    for level in levels:
        y = net.conv(net.conv(level, 48, act="Relu", plain=True), 48, act="Relu", plain=True)
        score, box = net.conv(y, 18, plain=True), net.conv(y, 12, plain=True)
        scores.append(net.shape(net.op("Transpose", score, perm=[0, 2, 3, 1]), 0, -1, 6))
        boxes.append(net.shape(net.op("Transpose", box, perm=[0, 2, 3, 1]), 0, -1, 4))
    return [net.op("Sigmoid", net.join(*scores, axis=1)), net.join(*boxes, axis=1)]


NETWORKS: dict[str, Callable[[Net], list[str]]] = {
    build.__name__: build
    for build in (
        vgg,
        inception,
        mnasnet,
        mobilenet,
        ghostnet,
        hrnet,
        xception,
        darknet,
        res2net,
        se_resnet,
        poolformer,
        convmixer,
        repvgg,
        autoencoder,
        edsr,
        fast_scnn,
        retinanet,
    )
}
