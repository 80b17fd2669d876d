#pragma once

#include <memory>
#include <string>

#include "models/translation/translation_engine.h"
#include "mps_runtime/stream.h"

namespace millrace::bergamot {

class BergamotWeights;

// The engine on libtorch operators in float32, for any device that libtorch has; on a CPU the
// int8 engine is several times faster. Batches are padded to few shapes: a translation can
// depend on its company in the last bit of a float, which a near tie may show. `model` is its name
// where shapes are counted (WorkerContext::AdmitShape). Thread-safe. Costs four bytes a weight on
// the device.
std::unique_ptr<translation::TranslationEngine> MakeAtenEngine(const BergamotWeights& weights,
                                                               runtime::DeviceType device,
                                                               std::string model = {});

}  // namespace millrace::bergamot
