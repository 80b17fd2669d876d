#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/bergamot/bergamot_weights.h"
#include "models/translation/translation_engine.h"
#include "mps_runtime/stream.h"

namespace millrace::bergamot {

// kInt8: int8 weights, 16-bit activations and exact integer sums, on the CPU whatever the device; a
// translation does not depend on its batch. kAten: float32 on libtorch.
enum class EngineKind : uint8_t { kInt8, kAten };

// The weights must outlive the engine. `model` names the model where shapes are counted.
std::unique_ptr<const translation::TranslationEngine> MakeEngine(
    EngineKind kind, const BergamotWeights& weights,
    runtime::DeviceType device = runtime::DeviceType::kCpu, std::string model = {});

// Makes a job whose source ends as Bergamot models expect it.
translation::SentenceJob MakeSentenceJob(const std::vector<int32_t>& tokens,
                                         float max_length_factor);

}  // namespace millrace::bergamot
