#include "models/kokoro/kokoro_synthesizer.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/core/payload.h"
#include "models/kokoro/speech_state.h"
#include "models/speech/noise.h"
#include "models/speech/speech_plan.h"

namespace millrace::kokoro {
namespace {

// The longest unit: the decoder's memory grows by about 15 MB a second.
constexpr int64_t kMaxUnitSeconds = 60;

}  // namespace

at::Tensor KokoroSynthesizer::MixStyle(const std::vector<speech::VoiceShare>& shares,
                                       size_t phonemes) const {
  at::Tensor mixed;
  for (const speech::VoiceShare& share : shares) {
    at::Tensor row = network_.styles[share.voice].narrow(0, static_cast<int64_t>(phonemes) - 1, 1);
    if (shares.size() == 1) return row;
    const at::Tensor part = row * share.weight;
    mixed = mixed.defined() ? mixed + part : part;
  }
  return mixed;
}

std::vector<KokoroSynthesizer::Spoken> KokoroSynthesizer::Speak(
    std::span<models::Request* const> requests, runtime::WorkerContext& context) const {
  const at::InferenceMode inference;
  std::vector<Spoken> all;
  if (network_.batch == nullptr) {
    for (models::Request* request : requests) all.push_back(SpeakAlone(*request));
    return all;
  }
  for (size_t begin = 0; begin < requests.size(); begin += KokoroBatch::kMaxSentences) {
    const auto some =
        requests.subspan(begin, std::min(KokoroBatch::kMaxSentences, requests.size() - begin));
    std::ranges::move(SpeakTogether(some, context), std::back_inserter(all));
  }
  return all;
}

absl::StatusOr<KokoroBatch::Sentence> KokoroSynthesizer::SentenceOf(
    models::Request& request) const {
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  const speech::SpeechPlan& plan = PlanOf(request);
  const auto shares = speech::ParseVoiceMix(plan.voice(), info_.speech().voices);
  if (!shares.ok()) return shares.status();
  return KokoroBatch::Sentence{.phonemes = plan.ids(),
                               .style = MixStyle(*shares, plan.symbols()),
                               .seed = input.seed,
                               .stream = input.first_sentence + plan.spoken()};
}

absl::StatusOr<std::optional<int64_t>> KokoroSynthesizer::CountFrames(
    models::Request& request, std::span<const int64_t> frames) const {
  if (std::find(frames.begin(), frames.end(), 0) != frames.end()) {
    return absl::InternalError(
        absl::StrCat("model '", info_.name, "' gave a phoneme a length that is no number"));
  }
  speech::SpeechPlan& plan = PlanOf(request);
  const int64_t count = std::accumulate(frames.begin(), frames.end(), int64_t{0});
  const int64_t samples = count * network_.samples_per_frame;
  if (samples > kMaxUnitSeconds * info_.speech().sample_rate) {
    if (plan.Halve()) return std::nullopt;
    return absl::InvalidArgumentError(absl::StrCat(
        plan.field(), ": one sentence would last ", samples / info_.speech().sample_rate,
        " seconds at normal speed, allowed are ", kMaxUnitSeconds));
  }
  plan.SetFrames(frames, network_.samples_per_frame);
  StateOf(request).recorder.Begin(frames, static_cast<size_t>(samples));
  return count;
}

KokoroSynthesizer::Spoken KokoroSynthesizer::SpeakAlone(models::Request& request) const {
  if (request.ShouldStop()) return std::nullopt;
  const auto sentence = SentenceOf(request);
  if (!sentence.ok()) return sentence.status();
  const at::Tensor& style = sentence->style;
  const int64_t half = network_.decoder->style_channels();
  KokoroEncoder::Output encoded =
      network_.encoder->Forward(sentence->phonemes, style.narrow(1, half, half));
  const auto frames = CountFrames(request, encoded.frames);
  if (!frames.ok()) return frames.status();
  if (!*frames || request.ShouldStop()) return std::nullopt;
  const KokoroDecoder::Curves curves = network_.decoder->Predict(encoded, style);
  if (request.ShouldStop()) return std::nullopt;
  std::vector<float> noise(static_cast<size_t>(**frames * network_.samples_per_frame *
                                               network_.decoder->noise_per_sample()));
  speech::NoiseSource(sentence->seed, sentence->stream).Fill(noise);
  return network_.decoder->Decode(encoded, curves, style, std::move(noise),
                                  [&request] { return request.ShouldStop(); });
}

std::vector<KokoroSynthesizer::Spoken> KokoroSynthesizer::SpeakTogether(
    std::span<models::Request* const> requests, runtime::WorkerContext& context) const {
  std::vector<Spoken> spoken(requests.size(), std::nullopt);
  std::vector<KokoroBatch::Sentence> sentences;
  std::vector<size_t> places;  // the index of each sentence's request
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i]->ShouldStop()) continue;
    auto sentence = SentenceOf(*requests[i]);
    if (!sentence.ok()) {
      spoken[i] = sentence.status();
      continue;
    }
    sentences.push_back(*std::move(sentence));
    places.push_back(i);
  }
  if (sentences.empty()) return spoken;
  std::vector<KokoroBatch::Encoded> encoded = network_.batch->Encode(sentences, context);

  std::vector<int64_t> frames;  // of the sentences that are to be decoded
  std::vector<size_t> chosen;   // indices of these sentences
  for (size_t i = 0; i < sentences.size(); ++i) {
    const auto count = CountFrames(*requests[places[i]], encoded[i].frames);
    if (!count.ok()) {
      spoken[places[i]] = count.status();
    } else if (*count) {
      frames.push_back(**count);
      chosen.push_back(i);
    }
  }
  for (const std::vector<size_t>& group : KokoroBatch::Group(frames)) {
    std::vector<KokoroBatch::Part> parts;
    std::vector<size_t> theirs;
    for (const size_t i : group) {
      const size_t sentence = chosen[i];
      if (requests[places[sentence]]->ShouldStop()) continue;
      parts.push_back({sentences[sentence], encoded[sentence], frames[i]});
      theirs.push_back(places[sentence]);
    }
    if (parts.empty()) continue;
    std::vector<std::vector<float>> samples = network_.batch->Decode(parts, context);
    for (size_t i = 0; i < theirs.size(); ++i) spoken[theirs[i]] = std::move(samples[i]);
  }
  return spoken;
}

}  // namespace millrace::kokoro
