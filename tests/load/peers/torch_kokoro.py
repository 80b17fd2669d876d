"""How fast the PyTorch package kokoro speaks: its KModel on the demo voice's weights, phonemes in, nothing but the network.

Each process has a model and speaks one text at a time. Phonemes are prepared beforehand by espeak-ng, as for onnx_speech.py. Run
with the Python that scripts/peers.sh kokoro makes. Prints JSON.
"""

import argparse
import json
import multiprocessing
import queue
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
from phonemes import kokoro_ids  # noqa: E402


def speak(package, threads, sentences, ready, go, spoken):
    """A process: speaks what it finds in `sentences` until there is nothing left."""
    import kmodel
    import torch

    torch.set_num_threads(threads)
    model, _, voices = kmodel.load(package)
    styles = voices[sorted(voices)[0]]

    def run(ids):
        return model.forward_with_tokens(torch.tensor([ids]), styles[len(ids) - 3].view(1, -1))[0].numel()

    run(sentences.get())   # warm
    ready.release()
    while not go.wait(timeout=1):
        if not multiprocessing.parent_process().is_alive():
            return
    samples, cpu = 0, time.process_time()
    while True:
        try:
            ids = sentences.get(timeout=0.1)
        except queue.Empty:
            break
        samples += run(ids)
    spoken.put((samples, time.process_time() - cpu, time.perf_counter()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, help="a text a line")
    parser.add_argument("--package", type=Path, default=ROOT / "var/models/kokoro-82m/1", help="default: %(default)s")
    parser.add_argument("--processes", type=int, default=1, help="each with a model (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch in each process (default: %(default)s)")
    args = parser.parse_args()
    vocabulary = json.loads((args.package / "kokoro.json").read_text(encoding="utf-8"))["vocab"]
    ids = kokoro_ids([line for line in args.texts.read_text().splitlines() if line], vocabulary)

    spawn = multiprocessing.get_context("spawn")   # PyTorch's threads do not survive a fork
    sentences, spoken, ready, go = spawn.Queue(), spawn.Queue(), spawn.Semaphore(0), spawn.Event()
    for _ in range(args.processes):
        sentences.put(ids[0])
    processes = [spawn.Process(target=speak, args=(args.package, args.threads, sentences, ready, go, spoken), daemon=True)
                 for _ in range(args.processes)]
    for process in processes:
        process.start()
    for _ in processes:
        while not ready.acquire(timeout=1):
            if any(process.exitcode for process in processes):
                raise SystemExit("a process ended before it was warm")
    for sentence in ids:
        sentences.put(sentence)
    begin = time.perf_counter()
    go.set()
    results = [spoken.get() for _ in processes]
    samples, cpu, ends = zip(*results, strict=True)
    for process in processes:
        process.join()
    print(json.dumps({"audio_seconds": sum(samples) / 24000, "wall_seconds": max(ends) - begin, "cpu_seconds": sum(cpu)}))


if __name__ == "__main__":
    main()
