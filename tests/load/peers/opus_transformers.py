"""How fast transformers' generate() decodes requests whose translations have forced lengths, greedily, from tokens that were made before.

In batches of requests of like length; all of a batch get the length of its longest, and all these tokens count. With --texts instead:
the translation of each request alone with its own length, a line each. Prints JSON.
"""

import argparse
import json
import time
from pathlib import Path

import torch
import transformers


def generate(model, batch, length):
    longest = max(len(request["words"]) for request in batch)
    pad = model.config.pad_token_id
    words = torch.tensor([request["words"] + [pad] * (longest - len(request["words"])) for request in batch])
    with torch.inference_mode():
        out = model.generate(words, attention_mask=(words != pad).long(), num_beams=1, do_sample=False, min_new_tokens=length,
                             max_new_tokens=length)
    assert out.shape[1] == 1 + length
    return out[:, 1:].tolist()


def write_texts(model, pieces, requests, path):
    translations = ("".join(pieces[word] for word in generate(model, [request], request["length"])[0]) for request in requests)
    path.write_text("".join(text.replace("\u2581", " ").strip() + "\n" for text in translations))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="folder with config.json, the weights and vocab.json")
    parser.add_argument("requests", type=Path, help="JSON: a list of {words, length}")
    parser.add_argument("--count", type=int, required=True, help="of the requests, so many")
    parser.add_argument("--together", type=int, default=32, help="requests in a batch (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--texts", type=Path, help="where to write translations")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    requests = json.loads(args.requests.read_text())[:args.count]
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(args.model, local_files_only=True, dtype=torch.float32).eval()
    if args.texts:
        numbers = json.loads((args.model / "vocab.json").read_text())
        write_texts(model, {number: piece for piece, number in numbers.items()}, requests, args.texts)
    else:
        generate(model, requests[:2], 4)   # warm
    requests.sort(key=lambda request: request["length"])
    batches = [] if args.texts else [requests[i:i + args.together] for i in range(0, len(requests), args.together)]
    wall, cpu, tokens, seconds = time.perf_counter(), time.process_time(), 0, []
    for batch in batches:
        start = time.perf_counter()
        tokens += sum(map(len, generate(model, batch, batch[-1]["length"])))
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"tokens": tokens, "wall_seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu,
                      "p50_ms": sorted(seconds)[len(seconds) // 2] * 1e3 if seconds else None}))


if __name__ == "__main__":
    main()
