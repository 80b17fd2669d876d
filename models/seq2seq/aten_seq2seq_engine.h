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
  int64_t cache_bytes = 0;  // the KV cache's size, raised to room for one sentence; 0: the default
};

// Makes an engine that runs an encoder-decoder transformer on libtorch: float16 on
// devices of half precision, float32 elsewhere. For greedy searches the device chooses the tokens,
// several in one submission; for others the scores of all tokens are copied to the host. The other
// sentences of a batch can change scores within rounding.
//
// A sentence for which the KV cache has no room waits until others end, and the sentences behind it
// in the call wait with it; a call makes no progress while none of its sentences has room. A
// suspended sentence keeps its search: the decoder reads the tokens that it had found again.
//
// Call it on the main thread after the device was bootstrapped; the weights may be destroyed
// afterwards. Throws what libtorch throws when there is too little memory.
std::unique_ptr<const translation::TranslationEngine> MakeAtenSeq2SeqEngine(
    const Seq2SeqWeights& weights, const Seq2SeqConfig& config, const AtenSeq2SeqOptions& options);

}  // namespace millrace::seq2seq
