#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "mps_runtime/stream.h"
#include "mps_runtime/worker_context.h"

namespace millrace::models {

class BergamotWeights;

// kQuantised: int8 weights, 16-bit activations, exact integer sums, on the CPU whatever the device;
// the same translation in any company. kAten: float32 on libtorch.
enum class TranslationEngineKind : uint8_t { kQuantised, kAten };

// One sentence in an engine: words of the vocabulary in, words out.
struct SentenceJob {
  std::vector<int32_t> source;  // ends with the end of sentence
  std::vector<int32_t> prefix;  // what the translation must begin with; not part of target
  size_t max_target = 0;        // words; a longer translation is cut
  std::vector<int32_t> target;  // out: without the end of sentence
  bool stopped = false;         // out: it left the batch early, target is not complete
};

// What stands around the words of every sentence of a request.
struct SentenceFrame {
  std::vector<int32_t> before = {};
  std::vector<int32_t> after = {};
  std::vector<int32_t> prefix = {};  // of the translation
};

// A job for the words of a sentence. Its translation may be max_length_factor times as long as the
// framed words, plus 5.
SentenceJob MakeSentenceJob(const std::vector<int32_t>& words, const SentenceFrame& frame,
                            float max_length_factor);
// In the frame of a Bergamot model.
SentenceJob MakeSentenceJob(const std::vector<int32_t>& words, float max_length_factor);

// Translation of a batch of sentences. Immutable, so thread-safe; each call works on its own
// buffers.
class TranslationEngine {
 public:
  virtual ~TranslationEngine() = default;

  // Fills target and stopped of each job. should_stop(i) is asked once a decoder step, and once
  // before the first, for each job that is still at work; such a job leaves the batch at once.
  virtual void Translate(std::span<SentenceJob> jobs, absl::FunctionRef<bool(size_t)> should_stop,
                         runtime::WorkerContext& context) const = 0;
};

// The weights must outlive the engine. `model`: its name where shapes are counted.
std::unique_ptr<const TranslationEngine> MakeTranslationEngine(
    TranslationEngineKind kind, const BergamotWeights& weights,
    runtime::DeviceType device = runtime::DeviceType::kCpu, std::string model = {});

}  // namespace millrace::models
