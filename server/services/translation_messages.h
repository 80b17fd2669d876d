#pragma once

#include "absl/status/statusor.h"
#include "millrace/v1/translation.pb.h"
#include "server/services/translation_request.h"

namespace millrace::server {

// The request in its native form. InvalidArgument for a format that does not exist; nothing else is
// checked.
absl::StatusOr<TranslationRequest> ToTranslationRequest(v1::TranslateRequest message);

}  // namespace millrace::server
