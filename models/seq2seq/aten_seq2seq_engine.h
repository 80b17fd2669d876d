#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "models/core/shape_policy.h"
#include "models/seq2seq/seq2seq_config.h"
#include "models/seq2seq/seq2seq_weights.h"
#include "models/translation/translation_engine.h"
#include "mps_runtime/stream.h"

namespace millrace::seq2seq {

struct AtenSeq2SeqOptions {
  runtime::DeviceType device = runtime::DeviceType::kCuda;
  std::string model;  // its name in the graph caches
  models::ShapePolicy shapes = models::ShapePolicy::kPadded;
  int64_t cache_bytes = 0;  // for keys and values, at least room for any one sentence; 0: as usual
};

// Translates with an encoder-decoder transformer on libtorch: float16 on CUDA, float32 elsewhere.
// Where a search takes the likeliest token, the device chooses, several tokens a submission; for
// others the scores of all tokens come to the host. Which tokens stand beside a sentence may change
// its scores within rounding. A sentence for which the cache has no room waits for others to end,
// without progress when none of its own call does, and those behind it in the call wait with it.
// One that was suspended keeps its search: tokens that it had found go through the decoder again.
// On the main thread, with a device that was bootstrapped; the weights may go afterwards. Throws
// what libtorch throws when there is too little memory.
std::unique_ptr<const translation::TranslationEngine> MakeAtenSeq2SeqEngine(
    const Seq2SeqWeights& weights, const Seq2SeqConfig& config, const AtenSeq2SeqOptions& options);

}  // namespace millrace::seq2seq
