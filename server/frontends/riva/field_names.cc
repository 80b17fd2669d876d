#include "server/frontends/riva/field_names.h"

#include <string_view>

#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

struct FieldName {
  std::string_view ours;
  std::string_view rivas;
};
constexpr FieldName kNames[] = {{"language:", "language_code:"},
                                {"sample_rate:", "sample_rate_hz:"},
                                {"voice:", "voice_name:"},
                                {"glossary", "dnt_phrases, glossary"},
                                {"do_not_translate", "dnt_phrases, do_not_translate"}};

}  // namespace

absl::Status WithRivaFieldName(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status)) return status;
  for (const auto& [ours, rivas] : kNames) {
    if (Message(status).starts_with(ours))
      return InvalidArgument(rivas, Message(status).substr(ours.size()));
  }
  return status;
}

}  // namespace millrace::server
