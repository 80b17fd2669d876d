#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model_info.h"
#include "models/core/request.h"
#include "models/kokoro/kokoro_batch.h"
#include "models/kokoro/kokoro_network.h"
#include "models/kokoro/kokoro_reader.h"
#include "models/kokoro/kokoro_settings.h"
#include "models/speech/voice.h"
#include "mps_runtime/worker_context.h"

namespace millrace::kokoro {

// Kokoro-82M: text to speech with many voices, which a request may mix ("a:0.3+b:0.7"), a sentence
// in each step; a streamed request begins with a clause. Several requests are spoken at once if the
// network has a batch. The weights take 0.33 GB.
class KokoroVoice final : public speech::Voice {
 public:
  // few_shapes: the warm-up runs all shapes.
  KokoroVoice(models::ModelInfo info, KokoroSettings settings, KokoroNetwork network,
              std::vector<KokoroReader::FrontEnd> front_ends, bool few_shapes);

  const speech::SpeechReader& reader() const override { return reader_; }
  absl::StatusOr<std::vector<speech::VoiceShare>> SharesOf(std::string_view voice) const override;
  Spoken SpeakAlone(models::Request& request, runtime::WorkerContext& context) const override;
  std::vector<Spoken> Speak(std::span<models::Request* const> requests,
                            runtime::WorkerContext& context) const override;
  std::vector<models::SynthesizeInput> WarmupInputs() const override;
  std::vector<size_t> WarmupBatches() const override;

 private:
  // Returns the batch's input for the request's unit, to which it refers.
  absl::StatusOr<KokoroBatch::Sentence> SentenceOf(models::Request& request) const;
  // Returns [1, style] for that many phonemes without the marks of the ends.
  at::Tensor MixStyle(const std::vector<speech::VoiceShare>& shares, size_t phonemes) const;

  const KokoroSettings settings_;
  const KokoroNetwork network_;
  const KokoroReader reader_;
  const bool few_shapes_;
};

}  // namespace millrace::kokoro
