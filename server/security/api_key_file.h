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

// The most that others may do with a file of keys.
inline constexpr mode_t kKeyFileMode = 0640;
// Four digits, such as "0640".
std::string OctalMode(mode_t mode);

// The entries of a file's text; a name may have several keys, so that one can be replaced without a
// gap. InvalidArgument names file, line and what is allowed, and never repeats a line: someone may
// have put a key into it.
absl::StatusOr<std::vector<ApiKeyEntry>> ParseApiKeys(std::string_view text,
                                                      const std::string& file);

}  // namespace millrace
