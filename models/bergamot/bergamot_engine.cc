#include "models/bergamot/bergamot_engine.h"

#include <utility>

#include "models/bergamot/aten_engine.h"
#include "models/bergamot/int8_engine.h"

namespace millrace::bergamot {

translation::SentenceJob MakeSentenceJob(const std::vector<int32_t>& tokens,
                                         float max_length_factor) {
  return translation::MakeSentenceJob(tokens, {.after = {BergamotWeights::kEndOfSentence}},
                                      max_length_factor);
}

std::unique_ptr<const translation::TranslationEngine> MakeEngine(EngineKind kind,
                                                                 const BergamotWeights& weights,
                                                                 runtime::DeviceType device,
                                                                 std::string model) {
  switch (kind) {
    case EngineKind::kInt8:
      return MakeInt8Engine(weights, *kernels::SupportedIntegerKernels().front());
    case EngineKind::kAten:
      return MakeAtenEngine(weights, device, std::move(model));
  }
  return nullptr;
}

}  // namespace millrace::bergamot
