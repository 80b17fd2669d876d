#include "server/requests/field_names.h"

#include "models/core/strings.h"

namespace millrace::server {

std::string MessageWithNames(const absl::Status& status, FieldNames names) {
  // A field's name ends before one of these.
  constexpr std::string_view kBehind = ":[,";
  std::string message(Message(status));
  for (const auto& [ours, theirs] : names) {
    if (!message.starts_with(ours) || message.size() == ours.size() ||
        kBehind.find(message[ours.size()]) == kBehind.npos)
      continue;
    message.replace(0, ours.size(), theirs);
    break;
  }
  return message;
}

}  // namespace millrace::server
