#!/usr/bin/env python3
"""What runs a decoder step best: PyTorch's operators one by one, or TorchScript.

The step is that of models/seq2seq/aten/transformer.cc with random weights of NLLB-600M's
shape (or OPUS-MT-base's), paths of 32 words and sources of 32; on CUDA also recorded as a graph. One
JSON object a line, the time of a step in microseconds, median of repeats.

Usage: decoder_formats.py cpu|cuda nllb-600m|opus-base ROWS [eager|script ...]
"""

import json
import sys
import time

import torch
import torch.nn.functional as F

SHAPES = {"nllb-600m": (12, 1024, 4096, 16, 256256), "opus-base": (6, 512, 2048, 8, 58112)}
WIDTH = 32
SLOTS = 10000


class Step(torch.nn.Module):
    def __init__(self, shape, factory):
        super().__init__()
        layers, self.dim, hidden, self.heads, words = SHAPES[shape]
        dim = self.dim

        def linear(outputs, inputs):
            return torch.nn.Linear(inputs, outputs, **factory)

        self.embeddings = torch.nn.Parameter(torch.randn(words, dim, **factory) * 0.02)
        self.places = torch.nn.Parameter(torch.randn(256, dim, **factory) * 0.02)
        self.layers = torch.nn.ModuleList(
            torch.nn.ModuleList(
                [linear(3 * dim, dim), linear(dim, dim), linear(dim, dim), linear(dim, dim)]
                + [linear(hidden, dim), linear(dim, hidden)]
                + [torch.nn.LayerNorm(dim, **factory) for _ in range(3)]
            )
            for _ in range(layers)
        )
        self.norm = torch.nn.LayerNorm(dim, **factory)

    def attend(self, query, memory, mask):
        rows = query.shape[0]
        parts = memory.view(rows, WIDTH, 2, self.heads, -1)
        query = query.reshape(rows, 1, self.heads, -1).transpose(1, 2)
        keys, values = parts[:, :, 0].transpose(1, 2), parts[:, :, 1].transpose(1, 2)
        mixed = F.scaled_dot_product_attention(query, keys, values, mask)
        return mixed.transpose(1, 2).reshape(rows, self.dim)

    def forward(self, words, positions, slots, paths, sources, cache):
        x = self.embeddings[words] + self.places[positions]
        beyond = torch.arange(WIDTH, device=x.device)[None, :] > positions[:, None]
        mask = torch.zeros_like(beyond, dtype=x.dtype).masked_fill(beyond, float("-inf"))[:, None, None]
        for i, (inputs, output, query, cross, expand, contract, *norms) in enumerate(self.layers):
            parts = inputs(norms[0](x))
            cache[i].index_copy_(0, slots, parts[:, self.dim :])
            x = x + output(self.attend(parts[:, : self.dim], cache[i].index_select(0, paths), mask))
            memory = cache[i].index_select(0, sources)
            x = x + cross(self.attend(query(norms[1](x)), memory, None))
            x = x + contract(F.relu(expand(norms[2](x))))
        return (self.norm(x) @ self.embeddings.t()).argmax(1)


def recorded(run):
    """The same as one CUDA graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def median_us(run, device):
    took = []
    for i in range(60):
        begin = time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        if i >= 10:
            took.append(time.perf_counter() - begin)
    return sorted(took)[len(took) // 2] * 1e6


def made(form, step, inputs):
    if form == "script":
        return torch.jit.freeze(torch.jit.trace(step, inputs, check_trace=False))
    return step


@torch.inference_mode(False)
@torch.no_grad()
def main():
    device, shape, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
    torch.manual_seed(1)
    dtype = torch.float16 if device == "cuda" else torch.float32
    step = Step(shape, {"device": device, "dtype": dtype}).eval().requires_grad_(False)
    layers, dim = SHAPES[shape][:2]
    some = torch.arange(rows * WIDTH, device=device)
    inputs = (
        some[:rows] + 5,
        torch.full((rows,), WIDTH - 2, device=device),
        some[:rows] * WIDTH + WIDTH - 2,
        some,
        some + SLOTS // 2,
        torch.randn(layers, SLOTS, 2 * dim, device=device, dtype=dtype),
    )
    for form in sys.argv[4:] or ["eager", "script"]:
        begin = time.perf_counter()
        network = made(form, step, inputs)
        seconds = time.perf_counter() - begin
        for graph in [False, True] if device == "cuda" else [False]:
            def run():
                return network(*inputs)

            for _ in range(5):  # TorchScript specialises itself in its first runs
                run()
            us = median_us(recorded(run) if graph else run, device)
            line = {"shape": shape, "device": device, "rows": rows, "form": form, "graph": graph}
            print(json.dumps(line | {"us": round(us, 1), "made_in_s": round(seconds, 1)}), flush=True)


if __name__ == "__main__":
    main()
