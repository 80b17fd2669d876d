#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model_info.h"
#include "models/core/request.h"
#include "models/kokoro/kokoro_batch.h"
#include "models/kokoro/kokoro_network.h"
#include "models/speech/voice_mix.h"
#include "mps_runtime/worker_context.h"

namespace millrace::kokoro {

// Speaks the current unit of requests (SpeechState): several at once if the network has a batch,
// else one after another. Refers to the description of the model and to its network, which must
// outlive it. Immutable: any number of threads may call it, each with its own context.
class KokoroSynthesizer {
 public:
  // The samples of a request's next unit. nullopt if the request must stop, or if the unit was too
  // long and its halves come first. An error ends the request.
  using Spoken = absl::StatusOr<std::optional<std::vector<float>>>;

  KokoroSynthesizer(const models::ModelInfo& info, const KokoroNetwork& network)
      : info_(info), network_(network) {}

  // Returns a result for each request.
  std::vector<Spoken> Speak(std::span<models::Request* const> requests,
                            runtime::WorkerContext& context) const;

 private:
  Spoken SpeakAlone(models::Request& request) const;
  // Takes 1..KokoroBatch::kMaxSentences requests.
  std::vector<Spoken> SpeakTogether(std::span<models::Request* const> requests,
                                    runtime::WorkerContext& context) const;
  // Returns the batch's input for the request's unit, to which it refers.
  absl::StatusOr<KokoroBatch::Sentence> SentenceOf(models::Request& request) const;
  // Sets the frames of a unit's phonemes and returns their sum; nullopt and errors as in Spoken.
  absl::StatusOr<std::optional<int64_t>> CountFrames(models::Request& request,
                                                     std::span<const int64_t> frames) const;
  // Returns [1, style] for that many phonemes without the marks of the ends.
  at::Tensor MixStyle(const std::vector<speech::VoiceShare>& shares, size_t phonemes) const;

  const models::ModelInfo& info_;
  const KokoroNetwork& network_;
};

}  // namespace millrace::kokoro
