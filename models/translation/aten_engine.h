#pragma once

#include <memory>

#include "models/translation/translation_engine.h"
#include "mps_runtime/stream.h"

namespace millrace::models {

class BergamotWeights;

// The engine on libtorch operators in float32, for any device that libtorch has; on a CPU the
// quantised engine is several times faster. Sentences are padded to the longest of the batch: a
// translation can depend on its company in the last bit of a float, which a near tie may show.
// Thread-safe. Costs four bytes a weight on the device.
std::unique_ptr<TranslationEngine> MakeAtenEngine(const BergamotWeights& weights,
                                                  runtime::DeviceType device);

}  // namespace millrace::models
