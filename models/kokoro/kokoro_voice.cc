#include "models/kokoro/kokoro_voice.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <variant>

#include "models/core/errors.h"
#include "models/core/payload.h"
#include "models/speech/noise.h"
#include "models/speech/speak_together.h"
#include "models/speech/speech_plan.h"
#include "models/speech/speech_state.h"
#include "models/text/unicode.h"

namespace millrace::kokoro {
namespace {

constexpr char kWarmupWords[] =
    "the first sentence that is spoken should not take longer than all of the others and so we say "
    "a few more words here until there are as many of them as people will ever ask for in one long "
    "sentence";
constexpr double kWarmupStep = 1.1;  // the least ratio between two ShapeBuckets is 8 / 7

speech::VoiceTraits TraitsOf(const KokoroNetwork& network) {
  return {.samples_per_frame = network.samples_per_frame,
          // Kokoro speaks about 200 phonemes best, and the decoder's memory grows with them.
          .max_unit_bytes = 200,
          // The decoder's memory grows by about 15 MB a second.
          .max_unit_seconds = 60,
          .first_clause_alone = true,
          .stretched_symbols = speech::kAllSymbols};
}

}  // namespace

KokoroVoice::KokoroVoice(models::ModelInfo info, KokoroSettings settings, KokoroNetwork network,
                         std::vector<KokoroReader::FrontEnd> front_ends, bool few_shapes)
    : Voice(std::move(info), TraitsOf(network)),
      settings_(std::move(settings)),
      network_(std::move(network)),
      reader_(settings_, std::move(front_ends), network_.max_phonemes()),
      few_shapes_(few_shapes) {}

absl::StatusOr<std::vector<speech::VoiceShare>> KokoroVoice::SharesOf(
    std::string_view voice) const {
  return speech::ParseVoiceMix(voice, info().speech().voices);
}

at::Tensor KokoroVoice::MixStyle(const std::vector<speech::VoiceShare>& shares,
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

std::vector<speech::Voice::Spoken> KokoroVoice::Speak(std::span<models::Request* const> requests,
                                                      runtime::WorkerContext& context) const {
  if (network_.batch == nullptr) return Voice::Speak(requests, context);
  const at::InferenceMode inference;
  return speech::SpeakTogether(
      *network_.batch, requests, [this](models::Request& request) { return SentenceOf(request); },
      context);
}

absl::StatusOr<KokoroBatch::Sentence> KokoroVoice::SentenceOf(models::Request& request) const {
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  const speech::SpeechPlan& plan = speech::StateOf(request).plan;
  MILLRACE_ASSIGN_OR_RETURN(const auto shares, SharesOf(plan.voice()));
  return KokoroBatch::Sentence{.phonemes = plan.ids(),
                               .style = MixStyle(shares, plan.symbols()),
                               .seed = input.seed,
                               .stream = input.first_sentence + plan.spoken()};
}

speech::Voice::Spoken KokoroVoice::SpeakAlone(models::Request& request,
                                              runtime::WorkerContext& /*context*/) const {
  const at::InferenceMode inference;
  if (request.ShouldStop()) return std::nullopt;
  MILLRACE_ASSIGN_OR_RETURN(const auto sentence, SentenceOf(request));
  const at::Tensor& style = sentence.style;
  const int64_t half = network_.decoder->style_channels();
  KokoroEncoder::Output encoded =
      network_.encoder->Forward(sentence.phonemes, style.narrow(1, half, half));
  speech::SpeechState& state = speech::StateOf(request);
  MILLRACE_ASSIGN_OR_RETURN(const bool begun, state.BeginUnit(encoded.frames));
  if (!begun || request.ShouldStop()) return std::nullopt;
  const KokoroDecoder::Curves curves = network_.decoder->Predict(encoded, style);
  if (request.ShouldStop()) return std::nullopt;
  std::vector<float> noise(static_cast<size_t>(state.frames() * network_.samples_per_frame *
                                               network_.decoder->noise_per_sample()));
  speech::NoiseSource(sentence.seed, sentence.stream).Fill(noise);
  return network_.decoder->Decode(encoded, curves, style, std::move(noise),
                                  [&request] { return request.ShouldStop(); });
}

std::vector<models::SynthesizeInput> KokoroVoice::WarmupInputs() const {
  std::vector<models::SynthesizeInput> inputs;
  if (!few_shapes_) return inputs;
  // Covers each number of phonemes, and with them about each number of frames of one second to ten.
  const auto read = reader_.ToPhonemes(kWarmupWords, "", /*with_words=*/false);
  if (!read.ok()) return inputs;
  double next = 2;  // the least number of phonemes that is worth another input
  for (size_t end = 0; end < read->phonemes.size();) {
    end += models::DecodeAt(read->phonemes, end).bytes;
    models::SynthesizeInput input;
    input.is_phonemes = true;
    input.text = read->phonemes.substr(0, end);
    const auto count = reader_.ToIds(input.text).symbols.size();
    if (static_cast<double>(count) < next) continue;
    if (count > network_.max_phonemes()) break;
    next = static_cast<double>(count) * kWarmupStep;
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::vector<size_t> KokoroVoice::WarmupBatches() const {
  std::vector<size_t> sizes = {1};
  const size_t most = std::min(info().batching.max_batch, KokoroBatch::kMaxSentences);
  while (few_shapes_ && 2 * sizes.back() <= std::bit_ceil(most)) sizes.push_back(2 * sizes.back());
  return sizes;
}

}  // namespace millrace::kokoro
