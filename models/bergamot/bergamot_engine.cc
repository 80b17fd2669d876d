#include "models/bergamot/bergamot_engine.h"

#include <utility>

#include "models/bergamot/aten_engine.h"
#include "models/bergamot/quantised_engine.h"

namespace millrace::bergamot {

translation::SentenceJob MakeSentenceJob(const std::vector<int32_t>& words,
                                         float max_length_factor) {
  return translation::MakeSentenceJob(words, {.after = {BergamotWeights::kEndOfSentence}},
                                      max_length_factor);
}

std::unique_ptr<const translation::TranslationEngine> MakeTranslationEngine(
    TranslationEngineKind kind, const BergamotWeights& weights, runtime::DeviceType device,
    std::string model) {
  switch (kind) {
    case TranslationEngineKind::kQuantised:
      return MakeQuantisedEngine(weights, *kernels::SupportedKernels().front());
    case TranslationEngineKind::kAten:
      return MakeAtenEngine(weights, device, std::move(model));
  }
  return nullptr;
}

}  // namespace millrace::bergamot
