#include "server/scheduling/unloaded_model.h"

#include <string>
#include <variant>

#include "models/core/payload.h"
#include "models/core/text_work.h"
#include "mps_runtime/base/check.h"

namespace millrace::server {
namespace {

double WorkOf(const models::InferInput& /*input*/) { return 1; }

double WorkOf(const models::TranslateInput& input) {
  double work = 1;
  for (const std::string& text : input.texts)
    work += models::kSentenceWork + static_cast<double>(text.size());
  return work;
}

double WorkOf(const models::SynthesizeInput& input) {
  return models::kSentenceWork + static_cast<double>(input.text.size());
}

}  // namespace

double UnloadedModel::EstimateWork(const models::Input& input) const {
  return std::visit([](const auto& of_task) { return WorkOf(of_task); }, input);
}

std::unique_ptr<models::Batch> UnloadedModel::Prepare(
    std::span<models::Request* const> /*requests*/) const {
  MILLRACE_UNREACHABLE();
}

}  // namespace millrace::server
