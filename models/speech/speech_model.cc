#include "models/speech/speech_model.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "models/core/errors.h"
#include "models/speech/speech_check.h"
#include "models/speech/speech_plan.h"
#include "models/speech/speech_reader.h"
#include "models/speech/speech_state.h"
#include "models/speech/unit_recorder.h"

namespace millrace::speech {
namespace {

// Reads the current units of plans that want it, up to `at_once` of them at the same time. What is
// not read here is read by SpeechPlan::Prepare.
void ReadTogether(std::span<SpeechPlan* const> plans, const SpeechReader& reader, size_t at_once) {
  std::atomic<size_t> next = 0;
  const auto read = [&] {
    try {
      for (size_t i = next++; i < plans.size(); i = next++) plans[i]->ReadAhead(reader);
    } catch (...) {
      // Prepare reads it again, and fails on the thread of the request.
    }
  };
  std::vector<std::thread> threads;
  try {
    while (threads.size() + 1 < std::min(at_once, plans.size())) threads.emplace_back(read);
  } catch (const std::system_error&) {
    // The machine has no more threads.
  }
  read();
  for (std::thread& thread : threads) thread.join();
}

class SpeechBatch final : public models::Batch {
 public:
  SpeechBatch(const Voice& voice, std::vector<models::Request*> requests)
      : voice_(voice), requests_(std::move(requests)) {}

  void Forward(runtime::WorkerContext& context) override {
    results_ = voice_.Speak(requests_, context);
  }

  void Complete() override {
    for (size_t i = 0; i < requests_.size(); ++i) {
      models::Request& request = *requests_[i];
      if (!results_[i].ok()) {
        request.Finish(results_[i].status());
        continue;
      }
      if (!*results_[i]) continue;  // cancelled, late or to be queued again: the queue handles it
      SpeechState& state = StateOf(request);
      state.recorder.Add(**results_[i]);
      bool last = false;
      models::SynthesizeOutput chunk = state.TakeChunk(**std::move(results_[i]), last);
      if (last || !chunk.samples.empty()) request.Emit(std::move(chunk));
      if (!last) {
        request.AdvanceTo(state.plan.WorkLeft(state.spoken_part()));
        continue;
      }
      state.unit.reset();
      const bool more = state.plan.Advance();
      request.AdvanceTo(state.plan.WorkLeft());
      if (!more) request.Finish(absl::OkStatus());
    }
  }

 private:
  const Voice& voice_;
  const std::vector<models::Request*> requests_;
  std::vector<Voice::Spoken> results_;
};

class SpeechModel final : public models::Model {
 public:
  SpeechModel(std::unique_ptr<const Voice> voice, const models::SpeechPauses& pauses,
              const SpeechCache::ForModel& cache)
      : voice_(std::move(voice)), pauses_(pauses), cache_(cache) {}

  const models::ModelInfo& info() const override { return voice_->info(); }
  absl::Status Validate(const models::Input& input) const override;
  double EstimateWork(const models::Input& input) const override;
  std::unique_ptr<models::Batch> Prepare(std::span<models::Request* const> requests) const override;
  std::vector<models::Input> WarmupInputs() const override;
  std::vector<size_t> WarmupBatches() const override { return voice_->WarmupBatches(); }

 private:
  absl::Status CheckVoices(const models::SynthesizeInput& input) const;
  // Reads the texts of requests together where the reader gains by it.
  void ReadAhead(std::span<models::Request* const> requests) const;
  // Returns true if the request's unit is to be spoken by the voice in this step.
  bool PrepareUnit(models::Request& request) const;
  // Emits the request's current unit if it is cached; returns false if it is not.
  bool EmitCached(models::Request& request) const;

  const std::unique_ptr<const Voice> voice_;
  const models::SpeechPauses pauses_;
  const SpeechCache::ForModel cache_;
};

absl::Status SpeechModel::Validate(const models::Input& input) const {
  const auto* speech = std::get_if<models::SynthesizeInput>(&input);
  if (speech == nullptr) {
    return InvalidArgument("model '", info().name, "' synthesizes speech and does nothing else");
  }
  MILLRACE_RETURN_IF_ERROR(CheckSpeech(*speech, info(), voice_->reader()));
  MILLRACE_RETURN_IF_ERROR(CheckVoices(*speech));
  MILLRACE_RETURN_IF_ERROR(CheckSpeed(*speech, info().speech()));
  return voice_->CheckNoise(*speech);
}

absl::Status SpeechModel::CheckVoices(const models::SynthesizeInput& input) const {
  if (const auto shares = voice_->SharesOf(input.voice); !shares.ok()) return shares.status();
  for (const models::SpeechPart& part : input.markup.parts) {
    if (const auto shares = voice_->SharesOf(part.manner.voice); !shares.ok())
      return shares.status();
  }
  return absl::OkStatus();
}

double SpeechModel::EstimateWork(const models::Input& input) const {
  const auto& speech = std::get<models::SynthesizeInput>(input);
  const double work = speech::EstimateWork(speech);
  // A network whose audio is stretched speaks at normal speed.
  return voice_->traits().stretched_symbols == kAllSymbols ? work * speech.speed : work;
}

std::unique_ptr<models::Batch> SpeechModel::Prepare(
    std::span<models::Request* const> requests) const {
  for (models::Request* request : requests) {
    if (request->state() != nullptr) continue;
    request->set_state(
        std::make_unique<SpeechState>(std::get<models::SynthesizeInput>(request->input()), info(),
                                      voice_->traits(), pauses_, cache_));
    request->EstimateWorkLeft(StateOf(*request).plan.WorkLeft());
  }
  ReadAhead(requests);
  std::vector<models::Request*> ready;
  for (models::Request* request : requests) {
    if (PrepareUnit(*request)) ready.push_back(request);
  }
  if (ready.empty()) return nullptr;
  return std::make_unique<SpeechBatch>(*voice_, std::move(ready));
}

void SpeechModel::ReadAhead(std::span<models::Request* const> requests) const {
  const size_t at_once = voice_->traits().readings_at_once;
  if (at_once == 1 || requests.size() == 1) return;
  std::vector<SpeechPlan*> plans;
  for (models::Request* request : requests) {
    SpeechPlan& plan = StateOf(*request).plan;
    if (plan.WantsReading() && !request->ShouldStop()) plans.push_back(&plan);
  }
  ReadTogether(plans, voice_->reader(), at_once);
}

bool SpeechModel::PrepareUnit(models::Request& request) const {
  SpeechState& state = StateOf(request);
  if (!PrepareUncached(request, state.plan, voice_->reader(), [&] { return EmitCached(request); }))
    return false;
  if (state.unit != nullptr) return true;
  const absl::StatusOr<bool> begun = voice_->PrepareUnit(request);
  if (!begun.ok()) request.Finish(begun.status());
  return begun.ok() && *begun;
}

bool SpeechModel::EmitCached(models::Request& request) const {
  SpeechState& state = StateOf(request);
  if (!state.recorder.on() || state.unit != nullptr) return false;
  const auto& input = std::get<models::SynthesizeInput>(request.input());
  auto shares = voice_->SharesOf(state.plan.voice());
  if (!shares.ok()) return false;
  UnitInput unit{.ids = state.plan.ids(),
                 .voices = *std::move(shares),
                 .speed = state.plan.network_speed(),
                 .seed = input.seed,
                 .place = input.first_sentence + state.plan.spoken()};
  voice_->AddSettings(input, unit);
  const auto known = state.recorder.Find(unit);
  if (known == nullptr) return false;
  state.BeginUnit(*known);
  // A listener gets the chunks of a unit that is spoken, because its times depend on them.
  auto from = known->samples.begin();
  for (bool last = false; !last;) {
    const auto to = from + state.NextFrames() * voice_->traits().samples_per_frame;
    models::SynthesizeOutput chunk = state.TakeChunk({from, to}, last);
    if (last || !chunk.samples.empty()) request.Emit(std::move(chunk));
    from = to;
  }
  return true;
}

std::vector<models::Input> SpeechModel::WarmupInputs() const {
  models::SynthesizeInput first;
  first.text = "One.";
  first.use_cache = false;
  std::vector<models::Input> inputs;
  // A voice that reads letters of another script has nothing to speak here, and brings its own
  // text.
  const auto read = voice_->reader().ToPhonemes(first.text, "", /*with_words=*/false);
  if (!read.ok() || !read->phonemes.empty()) inputs.emplace_back(std::move(first));
  for (models::SynthesizeInput& input : voice_->WarmupInputs()) {
    input.use_cache = false;
    inputs.emplace_back(std::move(input));
  }
  return inputs;
}

}  // namespace

std::unique_ptr<models::Model> MakeSpeechModel(std::unique_ptr<const Voice> voice,
                                               const models::SpeechPauses& pauses,
                                               const models::LoadContext& context) {
  SpeechCache::ForModel cache;
  if (context.caches.speech != nullptr) cache = context.caches.speech->MakeForModel();
  return std::make_unique<SpeechModel>(std::move(voice), pauses, cache);
}

}  // namespace millrace::speech
