#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "models/core/request.h"
#include "models/speech/speech_cache.h"
#include "models/speech/speech_reader.h"
#include "models/speech/speech_state.h"
#include "models/speech/voice_mix.h"
#include "models/speech/voice_traits.h"
#include "mps_runtime/worker_context.h"

namespace millrace::speech {

// The part of a speech model that is its kind's own: it reads texts, and its network speaks the
// current unit of a request (SpeechState). MakeSpeechModel makes a model of it. Immutable: any
// number of threads may call it, each with its own context and requests.
class Voice {
 public:
  // The next samples of a request's unit. Nullopt if the request is to stop, or if the unit was too
  // long and its halves come first. An error ends the request.
  using Spoken = absl::StatusOr<std::optional<std::vector<float>>>;

  Voice(models::ModelInfo info, const VoiceTraits& traits)
      : info_(std::move(info)), traits_(traits) {}
  virtual ~Voice() = default;
  Voice(const Voice&) = delete;
  Voice& operator=(const Voice&) = delete;

  const models::ModelInfo& info() const { return info_; }
  const VoiceTraits& traits() const { return traits_; }
  virtual const SpeechReader& reader() const = 0;

  // Returns the speakers for which a request's `voice` stands, by the model's own numbers. The
  // error names the field, the value and what is allowed.
  virtual absl::StatusOr<std::vector<VoiceShare>> SharesOf(std::string_view voice) const = 0;
  // Checks the noise that a request asks for. As it is, a model has no such setting.
  virtual absl::Status CheckNoise(const models::SynthesizeInput& input) const;
  // Adds the settings of a request on which the audio of a unit depends.
  virtual void AddSettings(const models::SynthesizeInput& /*input*/, UnitInput& /*unit*/) const {}

  // Host phase: does what needs no device for a unit that has not begun. Returns false if the unit
  // was too long and its halves come first. An error ends the request.
  virtual absl::StatusOr<bool> PrepareUnit(models::Request& /*request*/) const { return true; }
  // Device phase: speaks the next chunk of one request, or of each. As it is, Speak takes them one
  // by one.
  virtual Spoken SpeakAlone(models::Request& request, runtime::WorkerContext& context) const = 0;
  virtual std::vector<Spoken> Speak(std::span<models::Request* const> requests,
                                    runtime::WorkerContext& context) const;

  // Returns the inputs that cover the shapes of the network which a first short text does not have.
  virtual std::vector<models::SynthesizeInput> WarmupInputs() const { return {}; }
  virtual std::vector<size_t> WarmupBatches() const { return {1}; }

 private:
  const models::ModelInfo info_;
  const VoiceTraits traits_;
};

}  // namespace millrace::speech
