#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/services/services.h"
#include "server/services/work_reply.h"

namespace millrace::server {

// A request for a translation, whatever it came by. Strings are valid UTF-8.
struct TranslationRequest {
  std::string model;  // empty: the one that fits the languages
  std::string model_version;
  models::TranslateInput input;
};

// Checks what needs no model's own look, and finds the model. InvalidArgument, NotFound or
// FailedPrecondition name the field, its value and what is allowed.
absl::StatusOr<Work> MakeTranslationWork(TranslationRequest request, const Services& services);

}  // namespace millrace::server
