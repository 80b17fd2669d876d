#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace millrace::speech {

// Returns the words for a text that an SSML element <say-as> interprets, such as "third" for "3" as
// an ordinal. language: BCP 47; only English is read. InvalidArgument says which attribute or text
// is not supported, without a place. Thread-safe; linear time.
absl::StatusOr<std::string> SayAs(std::string_view interpret_as, std::string_view format,
                                  std::string_view text, std::string_view language);

}  // namespace millrace::speech
