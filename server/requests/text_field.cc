#include "server/requests/text_field.h"

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/core/too_long.h"

namespace millrace::server {

absl::Status CheckText(std::string_view field, std::string_view text) {
  if (text.empty()) return InvalidArgument(field, ": is empty");
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return InvalidArgument(field, ": has a NUL at byte ", nul, ", which is not allowed");
  }
  return absl::OkStatus();
}

absl::Status CheckTotal(std::string_view field, size_t characters, size_t limit) {
  if (characters <= limit) return absl::OkStatus();
  return TooLongError(StrCat(field, ": has ", characters, " characters; at most ", limit,
                             " are allowed in a request"));
}

absl::Status CheckVersion(std::string_view model, std::string_view version) {
  if (!model.empty() || version.empty()) return absl::OkStatus();
  return InvalidArgument("model_version: needs model, which is empty");
}

}  // namespace millrace::server
