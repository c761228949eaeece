"""
Train the model of the demo, quantization-aware, and export it as PyTorch exports such a model.

    pip install '.[train]'
    python examples/train.py   # 15 s; writes digits_qdq.onnx, digits_test.npz and digits_labels.npy

A residual CNN on scikit-learn's handwritten digits (8x8, doubled to 16x16). Batch normalizations are folded
into the convolutions, then every activation gets a quantizer with one scale, every weight one scale per
output channel, and training goes on through them. As is common, activations are u8 where a Relu made them
positive inside a block and s8 on the residual stream, all with zero point 0. Nothing is done for or against
any runtime: the graph is what `torch.onnx.export` writes.
"""

from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch.nn.utils.parametrize import register_parametrization

HERE = Path(__file__).parent
SEED = 74


class Quantizer(nn.Module):
    """Do nothing ("off"), note the largest magnitude ("watch") or round to 8 bits, zero point 0 ("on")."""

    def __init__(self, signed: bool):
        super().__init__()
        self.low, self.high = (-128, 127) if signed else (0, 255)
        self.mode, self.largest = "off", 0.0

    def forward(self, x: Tensor) -> Tensor:
        if self.mode == "off":
            return x
        if self.mode == "watch":
            self.largest = max(self.largest, x.detach().abs().max().item())
            return x
        scale = float(np.float32(self.largest / self.high))
        return torch.fake_quantize_per_tensor_affine(x, scale, 0, self.low, self.high)


class Conv(nn.Module):
    """Convolution and batch normalization; once `fold`ed, a convolution on weights of 8 bits per channel."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def fold(self) -> None:
        self.conv = fuse_conv_bn_eval(self.conv, self.norm)
        self.norm = nn.Identity()
        quantize_weight(self.conv)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x))


class WeightQuantizer(nn.Module):
    """Round a weight to s8 with one scale per output channel (axis 0), set so that nothing is clipped now."""

    def __init__(self, weight: Tensor):
        super().__init__()
        self.register_buffer("scale", weight.detach().abs().flatten(1).amax(1) / 127)
        self.register_buffer("zero_point", torch.zeros(len(weight), dtype=torch.int32))

    def forward(self, weight: Tensor) -> Tensor:
        return torch.fake_quantize_per_channel_affine(weight, self.scale, self.zero_point, 0, -128, 127)


def quantize_weight(module: nn.Module) -> None:
    """Have the module compute with its weight rounded, and train the weight that is rounded."""
    register_parametrization(module, "weight", WeightQuantizer(module.weight), unsafe=True)


class Block(nn.Module):
    """relu(b(relu(a(x))) + shortcut(x)), with the shortcut a 1x1 convolution where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.a, self.b = Conv(inputs, outputs, 3, stride), Conv(outputs, outputs, 3)
        self.quantize_a, self.quantize_b = Quantizer(signed=False), Quantizer(signed=True)
        self.shortcut = nn.Identity()
        if (inputs, stride) != (outputs, 1):
            self.shortcut = nn.Sequential(Conv(inputs, outputs, 1, stride), Quantizer(signed=True))
        self.quantize_sum = Quantizer(signed=True)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.quantize_a(torch.relu(self.a(x)))
        return self.quantize_sum(torch.relu(self.quantize_b(self.b(inner)) + self.shortcut(x)))


class Digits(nn.Module):
    """Images N x 16 x 16 x 1 in 0..1, channels last as cameras deliver them, to 10 logits."""

    def __init__(self):
        super().__init__()
        self.quantize_pixels = Quantizer(signed=False)
        self.stem, self.quantize_stem = Conv(1, 32, 3), Quantizer(signed=True)
        self.blocks = nn.Sequential(Block(32, 32, 1), Block(32, 48, 2), Block(48, 48, 1))
        self.quantize_mean = Quantizer(signed=False)
        self.classify = nn.Linear(48, 10)

    def forward(self, pixels: Tensor) -> Tensor:
        x = self.quantize_pixels(pixels).permute(0, 3, 1, 2)
        x = nn.functional.max_pool2d(torch.relu(self.stem(x)), 2)
        x = self.blocks(self.quantize_stem(x))
        return self.classify(self.quantize_mean(nn.functional.adaptive_avg_pool2d(x, 1)).flatten(1))


def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def train(model: nn.Module, x: Tensor, y: Tensor, epochs: int, rate: float) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    model.train()
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), y[batch], label_smoothing=0.05).backward()
            optimizer.step()
        schedule.step()
    model.eval()


def main() -> None:
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    digits = load_digits()
    images = np.kron(digits.images / 16, np.ones((2, 2)))[..., None].astype(np.float32)
    split = train_test_split(images, digits.target, test_size=360, random_state=SEED, stratify=digits.target)
    x, x_test, y, y_test = (torch.from_numpy(part) for part in split)

    model = Digits()
    train(model, x, y, epochs=12, rate=2e-3)
    print(f"float     {accuracy(model, x_test, y_test):.4f}")

    for module in [m for m in model.modules() if isinstance(m, Conv)]:
        module.fold()
    quantize_weight(model.classify)
    quantizers = [m for m in model.modules() if isinstance(m, Quantizer)]
    for mode in ("watch", "on"):
        for quantizer in quantizers:
            quantizer.mode = mode
        accuracy(model, x, y)
    train(model, x, y, epochs=3, rate=2e-4)
    print(f"quantized {accuracy(model, x_test, y_test):.4f}")

    torch.onnx.export(
        model,
        (x_test[:2],),
        str(HERE / "digits_qdq.onnx"),
        input_names=["pixels"],
        output_names=["logits"],
        dynamic_axes={"pixels": {0: "N"}, "logits": {0: "N"}},
        opset_version=17,
        dynamo=False,
    )
    np.savez_compressed(HERE / "digits_test.npz", pixels=x_test.numpy())
    np.save(HERE / "digits_labels.npy", y_test.numpy().astype(np.uint8))


if __name__ == "__main__":
    main()
