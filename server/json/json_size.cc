#include "server/json/json_size.h"

#include <cstddef>

#include "models/core/errors.h"

namespace millrace::server {
namespace {

constexpr size_t kMostValues = 100'000;

}  // namespace

absl::Status CheckJsonSize(std::string_view what, std::string_view text) {
  size_t values = 1;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    // Each value but the first follows a comma or is the first one of an object or list.
    if (!in_string && (c == ',' || c == '[' || c == '{') && ++values > kMostValues) {
      return InvalidArgument(what, " has more than ", kMostValues, " values of JSON");
    }
  }
  return absl::OkStatus();
}

}  // namespace millrace::server
