#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "models/translation/seq2seq/seq2seq_config.h"
#include "models/translation/seq2seq/seq2seq_weights.h"
#include "models/translation/translation_engine.h"
#include "mps_runtime/stream.h"

namespace millrace::models {

// Bytes for the keys and values of words that are usual on a device: on CUDA room for 43,000 words
// of NLLB-600M.
int64_t UsualCacheBytes(runtime::DeviceType device);

// Translates with an encoder-decoder transformer on libtorch: float16 on CUDA, float32 elsewhere.
// Where a search takes the likeliest word, the device chooses, several words a submission; for
// others the scores of all words come to the host. Which words stand beside a sentence may change
// its scores within rounding. A sentence for which the cache has no room waits for others to end,
// without progress when none of its own call does. On the main thread, with a device that was
// bootstrapped; the weights may go afterwards. `model`: its name in the graph caches. The cache has
// room for any one sentence, however few its bytes. Throws what libtorch throws when there is too
// little memory.
std::unique_ptr<const TranslationEngine> MakeAtenSeq2SeqEngine(const Seq2SeqWeights& weights,
                                                               const Seq2SeqConfig& config,
                                                               runtime::DeviceType device,
                                                               std::string model,
                                                               int64_t cache_bytes);

}  // namespace millrace::models
