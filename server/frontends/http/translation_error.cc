#include "server/frontends/http/translation_error.h"

#include "models/core/strings.h"

namespace millrace::server {

std::string MessageWithNames(const absl::Status& status, FieldNames names) {
  std::string message(Message(status));
  for (const auto& [ours, theirs] : names) {
    if (!message.starts_with(ours)) continue;
    message.replace(0, ours.size(), theirs);
    break;
  }
  return message;
}

}  // namespace millrace::server
