#include "models/speech/voice.h"

#include <string>

#include "models/core/errors.h"

namespace millrace::speech {
namespace {

absl::Status RefuseNoise(const char* field, float value, const std::string& model) {
  if (value < 0) return absl::OkStatus();
  return InvalidArgument(field, ": ", value, " is not allowed; model '", model,
                         "' has no such setting, leave it unset");
}

}  // namespace

absl::Status Voice::CheckNoise(const models::SynthesizeInput& input) const {
  MILLRACE_RETURN_IF_ERROR(RefuseNoise("noise_scale", input.noise_scale, info_.name));
  return RefuseNoise("noise_w", input.noise_w, info_.name);
}

std::vector<Voice::Spoken> Voice::Speak(std::span<models::Request* const> requests,
                                        runtime::WorkerContext& context) const {
  std::vector<Spoken> all;
  all.reserve(requests.size());
  for (models::Request* request : requests) all.push_back(SpeakAlone(*request, context));
  return all;
}

}  // namespace millrace::speech
