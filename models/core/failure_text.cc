#include "models/core/failure_text.h"

#include "absl/strings/ascii.h"
#include "models/core/strings.h"

namespace millrace {

std::string_view BeforeStackTrace(std::string_view text) {
  return text.substr(0, text.find("\nException raised from "));
}

std::string FailureCause(std::string_view text) {
  constexpr std::string_view kTraceback =
      "The following operation failed in the TorchScript interpreter";
  const absl::string_view trimmed =
      absl::StripTrailingAsciiWhitespace(View(BeforeStackTrace(text)));
  const size_t line = text.starts_with(kTraceback) ? trimmed.rfind('\n') : trimmed.npos;
  if (line != trimmed.npos) return std::string(trimmed.substr(line + 1));
  return std::string(trimmed.substr(0, trimmed.find('\n')));
}

}  // namespace millrace
