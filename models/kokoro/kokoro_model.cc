#include "models/kokoro/kokoro_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "models/kokoro/kokoro_batch.h"
#include "models/kokoro/kokoro_decoder.h"
#include "models/kokoro/kokoro_encoder.h"
#include "models/kokoro/kokoro_reader.h"
#include "models/kokoro/kokoro_settings.h"
#include "models/kokoro/kokoro_weights.h"
#include "models/speech/aten_device.h"
#include "models/speech/noise.h"
#include "models/speech/speech_check.h"
#include "models/speech/speech_plan.h"
#include "models/speech/text_to_phonemes.h"
#include "models/speech/unit_recorder.h"
#include "models/speech/voice_mix.h"
#include "models/text/multilingual/espeak_language.h"

namespace millrace::kokoro {
namespace {

constexpr float kMinSpeed = 0.5F;
constexpr float kMaxSpeed = 2.0F;
// The longest unit: the decoder's memory grows by about 15 MB a second.
constexpr int64_t kMaxUnitSeconds = 60;
// Kokoro speaks about 200 phonemes best, and the decoder's memory grows with them.
constexpr size_t kMaxUnitBytes = 200;
constexpr int64_t kEndMarks = 2;
// The cost of a second of speech on the CPU, relative to Piper's medium voices.
constexpr float kSpeechCost = 20;
static_assert(KokoroModel::kMaxBatch == KokoroBatch::kMaxSentences);
constexpr char kWarmupPhrase[] = "Thank you very much.";
constexpr char kWarmupSentence[] =
    "The first sentence that is spoken should not take longer than all the others.";
constexpr char kWarmupWords[] =
    "the first sentence that is spoken should not take longer than all of the others and so we say "
    "a few more words here until there are as many of them as people will ever ask for in one long "
    "sentence";
constexpr float kWarmupStep = 1.14F;  // the least ratio between two ShapeBuckets is 8 / 7

// The units of a request that are left to speak.
struct SpeechState final : models::RequestState {
  SpeechState(const models::SynthesizeInput& input, const models::SpeechPauses& pauses,
              int sample_rate, const speech::SpeechCache::ForModel& cache)
      : plan(input, {.max_bytes = kMaxUnitBytes,
                     .first_clause_alone = true,
                     .pauses = pauses,
                     .sample_rate = sample_rate}),
        recorder(input.use_cache ? cache : speech::SpeechCache::ForModel()) {}

  speech::SpeechPlan plan;
  speech::UnitRecorder recorder;
};

SpeechState& StateOf(models::Request& request) {
  return static_cast<SpeechState&>(*request.state());
}

speech::SpeechPlan& PlanOf(models::Request& request) { return StateOf(request).plan; }

// The loaded parts of a model.
struct Parts {
  KokoroSettings settings;
  std::vector<at::Tensor> styles;  // for each voice [phonemes, style]; on the CPU for a batch
  std::unique_ptr<KokoroEncoder> encoder;
  std::unique_ptr<KokoroDecoder> decoder;
  std::unique_ptr<KokoroBatch> batch;  // null: requests are spoken one by one
  int64_t samples_per_frame = 0;
  models::SpeechPauses pauses;
  speech::SpeechCache::ForModel cache;
  bool few_shapes = false;
};

// The samples of a request's next unit. nullopt if the request must stop, or if the unit was too
// long and its halves come first. An error ends the request.
using Spoken = absl::StatusOr<std::optional<std::vector<float>>>;

class LoadedKokoro final : public models::Model {
 public:
  LoadedKokoro(models::ModelInfo info, Parts parts, std::vector<KokoroReader::FrontEnd> front_ends)
      : info_(std::move(info)),
        parts_(std::move(parts)),
        reader_(parts_.settings, std::move(front_ends), max_phonemes()) {}

  const models::ModelInfo& info() const override { return info_; }
  absl::Status Validate(const models::Input& input) const override;
  double EstimateWork(const models::Input& input) const override {
    return speech::EstimateWork(std::get<models::SynthesizeInput>(input));
  }
  std::unique_ptr<models::Batch> Prepare(std::span<models::Request* const> requests) const override;
  std::vector<models::Input> WarmupInputs() const override;
  std::vector<size_t> WarmupBatches() const override;

  // Returns a result for each request.
  std::vector<Spoken> Speak(std::span<models::Request* const> requests,
                            runtime::WorkerContext& context) const;

 private:
  // Emits the request's current unit if it is cached; returns false if it is not.
  bool EmitCached(models::Request& request) const;
  Spoken SpeakAlone(models::Request& request) const;
  // Takes 1..KokoroBatch::kMaxSentences requests.
  std::vector<Spoken> SpeakTogether(std::span<models::Request* const> requests,
                                    runtime::WorkerContext& context) const;
  // Returns the batch's input for the request's unit, to which it refers.
  absl::StatusOr<KokoroBatch::Sentence> SentenceOf(models::Request& request) const;
  // Sets and returns the frames of a unit whose phonemes last that long; nullopt and errors as in
  // Spoken.
  absl::StatusOr<std::optional<int64_t>> CountFrames(models::Request& request,
                                                     const std::vector<int64_t>& frames) const;
  // Returns [1, style] for that many phonemes without the marks of the ends.
  at::Tensor MixStyle(const std::vector<speech::VoiceShare>& shares, size_t phonemes) const;
  size_t max_phonemes() const {
    return static_cast<size_t>(
        std::min(parts_.encoder->max_phonemes() - kEndMarks, parts_.styles.front().size(0)));
  }

  const models::ModelInfo info_;
  const Parts parts_;
  const KokoroReader reader_;
};

class SpeechBatch final : public models::Batch {
 public:
  SpeechBatch(const LoadedKokoro& model, std::vector<models::Request*> requests)
      : model_(model), requests_(std::move(requests)) {}

  void Forward(runtime::WorkerContext& context) override {
    results_ = model_.Speak(requests_, context);
  }

  void Complete() override {
    for (size_t i = 0; i < requests_.size(); ++i) {
      models::Request& request = *requests_[i];
      if (!results_[i].ok()) {
        request.Finish(results_[i].status());
        continue;
      }
      if (!*results_[i]) continue;  // cancelled, late or to be queued again: the queue handles it
      speech::SpeechPlan& plan = PlanOf(request);
      StateOf(request).recorder.Add(**results_[i]);
      request.Emit(
          plan.TakeChunk(**std::move(results_[i]), model_.info().speech().sample_rate, true));
      const bool more = plan.Advance();
      request.AdvanceTo(plan.WorkLeft());
      if (!more) request.Finish(absl::OkStatus());
    }
  }

 private:
  const LoadedKokoro& model_;
  const std::vector<models::Request*> requests_;
  std::vector<Spoken> results_;
};

absl::Status RefuseNoise(const char* field, float value, const std::string& model) {
  if (value < 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", value, " is not allowed; model '",
                                                 model, "' has no such setting, leave it unset"));
}

absl::Status LoadedKokoro::Validate(const models::Input& input) const {
  const auto* speech = std::get_if<models::SynthesizeInput>(&input);
  if (speech == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("model '", info_.name, "' synthesizes speech and does nothing else"));
  }
  if (absl::Status status = speech::CheckSpeech(*speech, info_, reader_); !status.ok())
    return status;
  if (const auto mix = speech::ParseVoiceMix(speech->voice, info_.speech().voices); !mix.ok())
    return mix.status();
  for (const models::SpeechPart& part : speech->markup.parts) {
    const auto mix = speech::ParseVoiceMix(part.manner.voice, info_.speech().voices);
    if (!mix.ok()) return mix.status();
  }
  if (absl::Status status = speech::CheckSpeed(*speech, info_.speech()); !status.ok())
    return status;
  if (absl::Status status = RefuseNoise("noise_scale", speech->noise_scale, info_.name);
      !status.ok()) {
    return status;
  }
  return RefuseNoise("noise_w", speech->noise_w, info_.name);
}

std::unique_ptr<models::Batch> LoadedKokoro::Prepare(
    std::span<models::Request* const> requests) const {
  std::vector<models::Request*> ready;
  for (models::Request* request : requests) {
    if (request->state() == nullptr) {
      request->set_state(
          std::make_unique<SpeechState>(std::get<models::SynthesizeInput>(request->input()),
                                        parts_.pauses, info_.speech().sample_rate, parts_.cache));
      request->EstimateWorkLeft(PlanOf(*request).WorkLeft());
    }
    if (speech::PrepareUncached(*request, PlanOf(*request), reader_,
                                [&] { return EmitCached(*request); })) {
      ready.push_back(request);
    }
  }
  if (ready.empty()) return nullptr;
  return std::make_unique<SpeechBatch>(*this, std::move(ready));
}

bool LoadedKokoro::EmitCached(models::Request& request) const {
  SpeechState& state = StateOf(request);
  if (!state.recorder.on()) return false;
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  auto shares = speech::ParseVoiceMix(state.plan.voice(), info_.speech().voices);
  if (!shares.ok()) return false;
  const auto known = state.recorder.Find({.ids = state.plan.ids(),
                                          .voices = *std::move(shares),
                                          .speed = state.plan.speed(),
                                          .seed = input.seed,
                                          .place = input.first_sentence + state.plan.spoken()});
  if (known == nullptr) return false;
  state.plan.SetFrames(known->frames, parts_.samples_per_frame);
  request.Emit(state.plan.TakeChunk(known->samples, info_.speech().sample_rate, true));
  return true;
}

at::Tensor LoadedKokoro::MixStyle(const std::vector<speech::VoiceShare>& shares,
                                  size_t phonemes) const {
  at::Tensor mixed;
  for (const speech::VoiceShare& share : shares) {
    const at::Tensor row =
        parts_.styles[share.voice].narrow(0, static_cast<int64_t>(phonemes) - 1, 1);
    if (shares.size() == 1) return row;
    const at::Tensor part = row * share.weight;
    mixed = mixed.defined() ? mixed + part : part;
  }
  return mixed;
}

std::vector<Spoken> LoadedKokoro::Speak(std::span<models::Request* const> requests,
                                        runtime::WorkerContext& context) const {
  const at::InferenceMode inference;
  std::vector<Spoken> all;
  if (parts_.batch == nullptr) {
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

absl::StatusOr<KokoroBatch::Sentence> LoadedKokoro::SentenceOf(models::Request& request) const {
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  const speech::SpeechPlan& plan = PlanOf(request);
  const auto shares = speech::ParseVoiceMix(plan.voice(), info_.speech().voices);
  if (!shares.ok()) return shares.status();
  return KokoroBatch::Sentence{.phonemes = plan.ids(),
                               .style = MixStyle(*shares, plan.symbols()),
                               .speed = plan.speed(),
                               .seed = input.seed,
                               .stream = input.first_sentence + plan.spoken()};
}

absl::StatusOr<std::optional<int64_t>> LoadedKokoro::CountFrames(
    models::Request& request, const std::vector<int64_t>& frames) const {
  if (std::find(frames.begin(), frames.end(), 0) != frames.end()) {
    return absl::InternalError(
        absl::StrCat("model '", info_.name, "' gave a phoneme a length that is no number"));
  }
  speech::SpeechPlan& plan = PlanOf(request);
  const int64_t count = std::accumulate(frames.begin(), frames.end(), int64_t{0});
  const int64_t samples = count * parts_.samples_per_frame;
  if (samples > kMaxUnitSeconds * info_.speech().sample_rate) {
    if (plan.Halve()) return std::nullopt;
    return absl::InvalidArgumentError(absl::StrCat(
        plan.field(), ", speed: one sentence would last ", samples / info_.speech().sample_rate,
        " seconds, allowed are ", kMaxUnitSeconds));
  }
  plan.SetFrames(frames, parts_.samples_per_frame);
  StateOf(request).recorder.Begin(frames, static_cast<size_t>(samples));
  return count;
}

Spoken LoadedKokoro::SpeakAlone(models::Request& request) const {
  if (request.ShouldStop()) return std::nullopt;
  const auto sentence = SentenceOf(request);
  if (!sentence.ok()) return sentence.status();
  const at::Tensor& style = sentence->style;
  const int64_t half = parts_.decoder->style_channels();
  const KokoroEncoder::Output encoded =
      parts_.encoder->Forward(sentence->phonemes, style.narrow(1, half, half), sentence->speed);
  const auto frames = CountFrames(request, encoded.frames);
  if (!frames.ok()) return frames.status();
  if (!*frames || request.ShouldStop()) return std::nullopt;
  const KokoroDecoder::Curves curves = parts_.decoder->Predict(encoded, style);
  if (request.ShouldStop()) return std::nullopt;
  std::vector<float> noise(static_cast<size_t>(**frames * parts_.samples_per_frame *
                                               parts_.decoder->noise_per_sample()));
  speech::NoiseSource(sentence->seed, sentence->stream).Fill(noise);
  return parts_.decoder->Decode(encoded, curves, style, std::move(noise),
                                [&request] { return request.ShouldStop(); });
}

std::vector<Spoken> LoadedKokoro::SpeakTogether(std::span<models::Request* const> requests,
                                                runtime::WorkerContext& context) const {
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
  const std::vector<KokoroBatch::Encoded> encoded = parts_.batch->Encode(sentences, context);

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
    std::vector<std::vector<float>> samples = parts_.batch->Decode(parts, context);
    for (size_t i = 0; i < theirs.size(); ++i) spoken[theirs[i]] = std::move(samples[i]);
  }
  return spoken;
}

std::vector<models::Input> LoadedKokoro::WarmupInputs() const {
  const auto speech = [](std::string text) {
    models::SynthesizeInput input;
    input.text = std::move(text);
    input.use_cache = false;
    return input;
  };
  std::vector<models::Input> inputs = {speech("One.")};
  if (!parts_.few_shapes) return inputs;
  // Covers about each number of frames of half a second to ten.
  for (const char* text : {kWarmupPhrase, kWarmupSentence}) {
    for (float speed = kMinSpeed; speed < kMaxSpeed; speed *= kWarmupStep) {
      models::SynthesizeInput input = speech(text);
      input.speed = speed;
      inputs.emplace_back(std::move(input));
    }
  }
  // Covers each number of phonemes, spoken fast.
  std::string text;
  int64_t last = 0;
  for (const auto word : absl::StrSplit(kWarmupWords, ' ')) {
    text = absl::StrCat(text, text.empty() ? "" : " ", word);
    const auto phonemes = reader_.ToPhonemes(text, "", /*with_words=*/false);
    if (!phonemes.ok()) break;
    const size_t count = reader_.ToIds(phonemes->phonemes).symbols.size();
    if (count > max_phonemes()) break;
    const int64_t bucket = parts_.batch->PhonemesBucket(count + kEndMarks);
    if (bucket == last) continue;
    last = bucket;
    models::SynthesizeInput input = speech(text);
    input.speed = kMaxSpeed;  // for the fewest frames
    inputs.emplace_back(std::move(input));
  }
  return inputs;
}

std::vector<size_t> LoadedKokoro::WarmupBatches() const {
  std::vector<size_t> sizes = {1};
  const size_t most = std::min(info_.batching.max_batch, KokoroBatch::kMaxSentences);
  while (parts_.few_shapes && 2 * sizes.back() <= std::bit_ceil(most))
    sizes.push_back(2 * sizes.back());
  return sizes;
}

// Returns the voices with the default first, or an error when the default does not exist.
absl::StatusOr<std::vector<std::string>> OrderVoices(const KokoroSettings& settings,
                                                     const KokoroOptions& options) {
  std::vector<std::string> voices = settings.voices;
  if (options.voice.empty()) return voices;
  const auto found = std::find(voices.begin(), voices.end(), options.voice);
  if (found == voices.end()) {
    return absl::InvalidArgumentError(absl::StrCat("voice: ", options.config_file.string(),
                                                   " has no voice '", options.voice,
                                                   "'; it has: ", absl::StrJoin(voices, ", ")));
  }
  std::rotate(voices.begin(), found, found + 1);
  return voices;
}

// Fills in the languages that the voices were made for. Returns an error that names a voice which
// does not exist.
absl::Status DescribeVoices(const KokoroOptions& options, models::SpeechInfo& info) {
  info.voice_languages.assign(info.voices.size(), "");
  const auto find = [&](const std::string& name) {
    return std::ranges::find(info.voices, name) - info.voices.begin();
  };
  for (const models::LanguageVoice& made : options.voice_languages) {
    const auto index = static_cast<size_t>(find(made.voice));
    if (index == info.voices.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("voices: ", options.config_file.string(), " has no voice '", made.voice,
                       "'; it has: ", absl::StrJoin(info.voices, ", ")));
    }
    info.voice_languages[index] = made.language;
  }
  info.default_voices = options.default_voices;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<models::Model>> KokoroModel::Load(const KokoroOptions& options,
                                                                 models::ModelInfo info) {
  const at::InferenceMode inference;
  const bool padded = options.shapes != models::ShapePolicy::kExact;
  Parts parts;
  auto settings = KokoroSettings::Read(options.config_file);
  if (!settings.ok()) return settings.status();
  parts.settings = *std::move(settings);
  auto voices = OrderVoices(parts.settings, options);
  if (!voices.ok()) return voices.status();

  auto weights = KokoroWeights::Open(options.weights_file, speech::ToAten(options.device));
  if (!weights.ok()) return weights.status();
  parts.encoder = std::make_unique<KokoroEncoder>(*weights, padded);
  if (!weights->status().ok()) return weights->status();
  parts.decoder = std::make_unique<KokoroDecoder>(*weights, parts.settings.sample_rate, padded);
  if (!weights->status().ok()) return weights->status();
  for (const std::string& voice : *voices) {
    parts.styles.push_back(
        weights->Take("voices." + voice, {-1, 2 * parts.decoder->style_channels()}));
    if (!weights->status().ok()) return weights->status();
    if (padded) parts.styles.back() = parts.styles.back().to(at::kCPU);
    if (parts.styles.back().size(0) == parts.styles.front().size(0)) continue;
    return absl::DataLossError(absl::StrCat(
        options.weights_file.string(), ": voices.", voice, " has ", parts.styles.back().size(0),
        " rows, voices.", voices->front(), " has ", parts.styles.front().size(0)));
  }
  if (parts.settings.largest_id() >= parts.encoder->symbols()) {
    return absl::DataLossError(absl::StrCat(options.config_file.string(), ": vocab has the number ",
                                            parts.settings.largest_id(), ", the weights know ",
                                            parts.encoder->symbols(), " symbols"));
  }
  if (parts.encoder->max_phonemes() <= static_cast<int64_t>(kEndMarks)) {
    return absl::DataLossError(absl::StrCat(options.weights_file.string(),
                                            ": bert.embeddings.position_embeddings.weight",
                                            " has no room for a phoneme"));
  }
  speech::TextToPhonemesOptions text;
  text.lexicon_file = options.lexicon_file;
  text.user_lexicon_file = options.user_lexicon_file;
  text.symbols = parts.settings.Symbols();
  text.espeak_program = options.espeak_program;
  text.max_espeak_processes = options.max_espeak_processes;
  text.espeak_timeout = options.espeak_timeout;
  std::vector<KokoroReader::FrontEnd> front_ends;
  std::vector<std::string> languages = {options.language};
  if (models::FindEspeakLanguage(options.language) != nullptr) {
    const auto english = speech::LanguageOfLexicon(options.lexicon_file);
    if (!english.ok()) return english.status();
    languages.push_back(*english);
  }
  languages.emplace_back("ja");
  for (const models::EspeakLanguage& language : models::kEspeakLanguages) {
    if (language.tag != options.language) languages.emplace_back(language.tag);
  }
  for (const std::string& language : languages) {
    text.language = language;
    auto front_end = speech::MakeTextToPhonemes(text);
    if (!front_end.ok()) return front_end.status();
    front_ends.push_back({language, *std::move(front_end)});
  }

  info.platform = "kokoro";
  auto& speech = info.details.emplace<models::SpeechInfo>();
  speech.language = options.language;
  // Japanese is read from kana alone.
  std::ranges::copy_if(languages, std::back_inserter(speech.pronunciation_languages),
                       [](const std::string& language) { return language != "ja"; });
  speech.languages = std::move(languages);
  speech.sample_rate = parts.settings.sample_rate;
  speech.voices = *std::move(voices);
  speech.speech_cost = kSpeechCost;
  speech.min_speed = kMinSpeed;
  speech.max_speed = kMaxSpeed;
  if (absl::Status status = DescribeVoices(options, speech); !status.ok()) return status;
  parts.samples_per_frame = weights->shape().samples_per_frame();
  if (padded) {
    parts.batch =
        std::make_unique<KokoroBatch>(*parts.encoder, *parts.decoder, parts.samples_per_frame,
                                      absl::StrCat(info.name, "/", info.version));
  }
  parts.pauses = options.pauses;
  parts.cache = options.cache;
  parts.few_shapes = options.shapes == models::ShapePolicy::kFew;
  return std::make_unique<LoadedKokoro>(std::move(info), std::move(parts), std::move(front_ends));
}

}  // namespace millrace::kokoro
