"""How near the first words of a Kokoro sentence come to what they are in the whole of it when its generator runs over them alone.

Durations, pitch and the decoder's features are always of the whole sentence. Only the generator, which takes most of the time, runs over the frames
of the first words and a margin of what its convolutions read. Its norms then lack the mean and the variance of each channel over the whole sentence,
which come from:
  exact     the whole sentence, which shows that the margin is wide enough
  own       the frames of the first words
  predicted a linear regression from the decoder's features, of the frames that the generator has not seen; those of the first words are its own
  adjusted  the same, moved by half of what the regression was wrong by for the first words
Prints the mean distance of the log-mel spectrograms of the first words for each, and beside them that of the whole sentence with another seed of the
noise. The regression is made from other sentences. Run with the Python that scripts/peers.sh kokoro makes; takes five minutes on two cores.
"""

import argparse
import json
import sys
import types
from collections import defaultdict
from pathlib import Path

import kmodel
import torch
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
from phonemes import kokoro_ids  # noqa: E402

from models.convert import vits_check  # noqa: E402
from models.convert.log_mel import distance  # noqa: E402

MARGIN = 8                  # half frames
SAMPLES_PER_HALF_FRAME = 300
HOPS_PER_HALF_FRAME = 60
RIDGE = 1e-2                # of the regression, relative to the power of each feature
LEAST_VARIANCE = 0.2        # of that of the first words
SOURCES = ("exact", "own", "predicted", "adjusted")
EPSILON = 1e-5


class Sentence:
    """All of a sentence up to the generator's input, as KModel computes it."""

    def __init__(self, model, ids, style):
        self.tokens = torch.tensor([[0, *ids, 0]])
        count = self.tokens.shape[1]
        lengths, no_mask = torch.tensor([count]), torch.zeros(1, count, dtype=torch.bool)
        self.sound, prosody = style[:, :128], style[:, 128:]
        read = model.predictor.text_encoder(
            model.bert_encoder(model.bert(self.tokens, attention_mask=(~no_mask).int())).transpose(-1, -2), prosody, lengths, no_mask)
        durations = torch.sigmoid(model.predictor.duration_proj(model.predictor.lstm(read)[0])).sum(-1)
        self.frames = torch.round(durations).clamp(min=1).long().squeeze()
        token_of = torch.repeat_interleave(torch.arange(count), self.frames)
        alignment = torch.eye(count)[:, token_of].unsqueeze(0)
        self.pitch, loudness = model.predictor.F0Ntrain(read.transpose(-1, -2) @ alignment, prosody)
        text = model.text_encoder(self.tokens, lengths, no_mask) @ alignment
        decoder = model.decoder
        curves = [decoder.F0_conv(self.pitch.unsqueeze(1)), decoder.N_conv(loudness.unsqueeze(1))]
        x = decoder.encode(torch.cat([text, *curves], 1), self.sound)
        again = [decoder.asr_res(text), *curves]
        for block in decoder.decode:
            x = block(torch.cat([x, *again], 1) if again else x, self.sound)
            if block.upsample_type != "none":
                again = []
        self.features = x
        self.half_frames = x.shape[2]

    def regressors(self):
        """[half frames, regressors]"""
        pitch = self.pitch[0][:, None] / 200
        voiced = (pitch > 0.05).float()
        return torch.cat([torch.ones(self.half_frames, 1), voiced, voiced * pitch, voiced * pitch ** 2, self.features[0].t()], 1).double()

    def half_frames_of(self, words, space):
        """The number of half frames up to the middle of the space after so many words; None if there are fewer."""
        spaces = (self.tokens[0] == space).nonzero().flatten()
        return int(2 * self.frames[:spaces[words - 1]].sum() + self.frames[spaces[words - 1]]) if len(spaces) >= words else None


class Generator:
    """KModel's, whose norms take their means and variances from a function: moments(name of the norm, mean, variance, input)."""

    def __init__(self, network):
        self.network = network
        self.moments = lambda _name, mean, variance, _x: (mean, variance)
        for name, norm in network.named_modules():
            if type(norm).__name__ == "AdaIN1d":
                norm.forward = types.MethodType(lambda norm, x, style, name=name: self.normalize(name, norm, x, style), norm)

    def normalize(self, name, norm, x, style):
        mean, variance = self.moments(name, x.mean(2, keepdim=True), x.var(2, keepdim=True, unbiased=False), x)
        scale, shift = torch.chunk(norm.fc(style).view(1, -1, 1), 2, dim=1)
        return (1 + scale) * ((x - mean) / torch.sqrt(variance + EPSILON)) + shift

    def source(self, pitch, seed):
        torch.manual_seed(seed)
        harmonics, _, _ = self.network.m_source(self.network.f0_upsamp(pitch[:, None]).transpose(1, 2))
        return torch.cat(self.network.stft.transform(harmonics.transpose(1, 2).squeeze(1)), 1)

    def run(self, sentence, source, half_frames=None):
        """Samples of the whole sentence, or of its first half frames."""
        network, blocks = self.network, self.network.num_kernels
        end = min(sentence.half_frames, (half_frames or sentence.half_frames) + MARGIN)
        x, source = sentence.features[:, :, :end], source[:, :, :end * HOPS_PER_HALF_FRAME + 1]
        for i in range(network.num_upsamples):
            x = network.ups[i](functional.leaky_relu(x, 0.1))
            if i == network.num_upsamples - 1:
                x = network.reflection_pad(x)
            x = x + network.noise_res[i](network.noise_convs[i](source), sentence.sound)
            x = sum(network.resblocks[i * blocks + j](x, sentence.sound) for j in range(blocks)) / blocks
        x = network.conv_post(functional.leaky_relu(x))
        bins = network.post_n_fft // 2 + 1
        samples = network.stft.inverse(torch.exp(x[:, :bins]), torch.sin(x[:, bins:])).squeeze()
        return samples[:(half_frames or end) * SAMPLES_PER_HALF_FRAME].numpy()


def regress(generator, sentences):
    """The weights, by the name of a norm, from regressors to the means and the mean squares of its channels in a half frame."""
    products, targets = 0, defaultdict(int)
    for sentence in sentences:
        x = sentence.regressors()
        products = products + x.t() @ x

        def collect(name, mean, variance, y, x=x):
            per = y.shape[2] // len(x)
            pooled = y[0, :, -per * len(x):].reshape(y.shape[1], len(x), per)
            targets[name] = targets[name] + x.t() @ torch.cat([pooled.mean(2), (pooled ** 2).mean(2)]).t().double()
            return mean, variance

        generator.moments = collect
        generator.run(sentence, generator.source(sentence.pitch, 1))
    ridge = torch.diag(torch.diagonal(products)) * RIDGE
    ridge[0, 0] = 0
    return {name: torch.linalg.solve(products + ridge, target) for name, target in targets.items()}


def moments_by(source, exact, weights, x, end):
    """The function of the generator's norms for its first `end` half frames of all, whose regressors are x."""
    share, seen, unseen = end / len(x), x[:end].mean(0), x[end:].mean(0)

    def predict(name, mean, variance, _):
        own = torch.cat([mean.flatten(), (variance + mean ** 2).flatten()]).double()
        rest = unseen @ weights[name] + (0.5 * (own - seen @ weights[name]) if source == "adjusted" else 0)
        first, second = (share * own + (1 - share) * rest).chunk(2)
        return (first.view(1, -1, 1).float(),
                torch.maximum((second - first ** 2).view(1, -1, 1), LEAST_VARIANCE * variance).float())

    return {"exact": lambda name, *_: exact[name], "own": lambda _name, mean, variance, _: (mean, variance)}.get(source, predict)


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, nargs="+", help="files of a sentence a line")
    parser.add_argument("--package", type=Path, default=ROOT / "var/models/kokoro-82m/1", help="default: %(default)s")
    parser.add_argument("--words", type=int, default=3, help="that are heard first (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model, vocabulary, voices = kmodel.load(args.package)
    generator, names = Generator(model.decoder.generator), sorted(voices)

    def read(texts):
        for i, ids in enumerate(kokoro_ids(texts, vocabulary)):
            yield Sentence(model, ids, voices[names[i % len(names)]][len(ids) - 1].view(1, -1))

    weights = regress(generator, read(vits_check.SENTENCES))
    rows = []
    for sentence in read([line for file in args.texts for line in file.read_text(encoding="utf-8").splitlines() if line]):
        first = sentence.half_frames_of(args.words, vocabulary[" "])
        if first is None or first + MARGIN >= sentence.half_frames:
            continue
        exact = {}
        generator.moments = lambda name, mean, variance, _, exact=exact: exact.setdefault(name, (mean, variance))
        noise = generator.source(sentence.pitch, 1)
        whole = generator.run(sentence, noise)[:first * SAMPLES_PER_HALF_FRAME]
        row = {"share": first / sentence.half_frames}
        for source in SOURCES:
            generator.moments = moments_by(source, exact, weights, sentence.regressors(), first + MARGIN)
            row[source] = distance(generator.run(sentence, noise, first), whole)
        generator.moments = moments_by("own", exact, weights, sentence.regressors(), first + MARGIN)
        row["other seed"] = distance(generator.run(sentence, generator.source(sentence.pitch, 2))[:len(whole)], whole)
        rows.append(row)
        print(json.dumps({key: round(value, 3) for key, value in row.items()}), flush=True)
    for key in rows[0]:
        values = sorted(row[key] for row in rows)
        print(f"{key}: mean {sum(values) / len(values):.3f}, {values[0]:.3f} to {values[-1]:.3f}, of {len(values)} sentences")


if __name__ == "__main__":
    main()
