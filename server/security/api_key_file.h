#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/security/api_key_store.h"

namespace millrace {

using KeyDigest = std::array<unsigned char, 32>;  // SHA-256

struct ApiKeyEntry {
  Principal principal;
  KeyDigest digest;
};

KeyDigest DigestOf(std::string_view key);

// The widest mode that a file of keys may have.
inline constexpr mode_t kKeyFileMode = 0640;
// Returns the mode as four digits, such as "0640".
std::string OctalMode(mode_t mode);

// Parses the entries of a file's text. A name may have several keys, so that one can be replaced
// without a gap. InvalidArgument names the file, the line and what is allowed. It never repeats a
// line, because someone may have put a key into it.
absl::StatusOr<std::vector<ApiKeyEntry>> ParseApiKeys(std::string_view text,
                                                      const std::string& file);

}  // namespace millrace
