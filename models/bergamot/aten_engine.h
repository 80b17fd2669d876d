#pragma once

#include <memory>
#include <string>

#include "models/translation/translation_engine.h"
#include "mps_runtime/stream.h"

namespace millrace::bergamot {

class BergamotWeights;

// Makes the float32 engine of libtorch operators, for any device of libtorch; on a CPU the int8
// engine is several times faster. Batches are padded to few shapes. The other sentences of a batch
// can change a score in the last bit, and so decide a near tie. `model` names the model in
// WorkerContext::AdmitShape. The engine is thread-safe and takes four bytes for each weight on the
// device.
std::unique_ptr<translation::TranslationEngine> MakeAtenEngine(const BergamotWeights& weights,
                                                               runtime::DeviceType device,
                                                               std::string model = {});

}  // namespace millrace::bergamot
