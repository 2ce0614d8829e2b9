"""Trains a small transformer to write Python's documentation, on the CPU and on a device.

    python examples/text.py             # JAX's arrays, with compiled steps too
    python examples/text.py npy         # NumPy's arrays

The text is that of `help()`, which Python brings along. The transformer predicts the next letter
from the 64 before it; at the end, it goes on with a sentence.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import torch
from comparison import begin, compare, parser, show, ways
from torch import nn

LENGTH, WIDTH = 64, 64


class Transformer(nn.Module):
    """Two layers with causal attention over letters."""

    def __init__(self, letters: int) -> None:
        super().__init__()
        self.letters = nn.Embedding(letters, WIDTH)
        self.places = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                WIDTH, 4, 4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True
            )
            for _ in range(2)
        )
        self.out = nn.Linear(WIDTH, letters)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.letters(x) + self.places
        for layer in self.layers:
            x = layer(x, src_mask=self.mask)
        return self.out(x)  # type: ignore[no-any-return]


def documentation() -> str:
    """Return the text of the topics of `help()`."""
    from pydoc_data.topics import topics

    text = "\n".join(topics[each] for each in sorted(topics))
    return text.encode("ascii", "ignore").decode()


def batches(data: torch.Tensor, count: int, size: int) -> Iterator[tuple[torch.Tensor, ...]]:
    """Return random pieces of the text, and the same one letter later."""
    random = torch.Generator().manual_seed(0)
    for _ in range(count):
        starts = torch.randint(len(data) - LENGTH - 1, (size,), generator=random)
        pieces = torch.stack([data[each : each + LENGTH + 1] for each in starts.tolist()])
        yield pieces[:, :-1], pieces[:, 1:]


def main() -> int:
    options = parser(__doc__ or "", steps=300, batch=16, write=120).parse_args()
    begin(options.device)
    text = documentation()
    letters = sorted(set(text))
    codes = {each: number for number, each in enumerate(letters)}
    data = torch.tensor([codes[each] for each in text])
    made = ways(
        options.device,
        lambda: Transformer(len(letters)),
        lambda each: torch.optim.SGD(each, 0.1, momentum=0.9),
    )
    compare(made, batches(data, options.steps, options.batch), options.steps, every=50)
    code = show("transformer on the documentation of Python", made, 5e-2)
    begun = 'The "with" statement is used to wrap the execution of a block of'
    written = [codes[each] for each in begun]
    last = made[-1]
    torch.manual_seed(0)
    with torch.no_grad():
        for _ in range(options.write):
            x = torch.tensor([written[-LENGTH:]], device=last.place)
            chances = last.net(x)[0, -1].softmax(-1).cpu()
            written.append(int(torch.multinomial(chances, 1)))
    if options.write:
        print(f"{last.name} writes: " + "".join(letters[each] for each in written))
    return code


if __name__ == "__main__":
    sys.exit(main())
