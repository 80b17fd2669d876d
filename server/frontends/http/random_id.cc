#include "server/frontends/http/random_id.h"

#include <openssl/rand.h>

#include <new>
#include <string_view>

#include "absl/strings/escaping.h"
#include "models/core/strings.h"

namespace millrace::server {

std::string RandomId() {
  unsigned char bytes[16];
  // It fails for want of entropy or of memory, like an allocation.
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) throw std::bad_alloc();
  const std::string digits = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes), sizeof(bytes)));
  const std::string_view id = digits;
  return StrCat(id.substr(0, 8), "-", id.substr(8, 4), "-", id.substr(12, 4), "-", id.substr(16, 4),
                "-", id.substr(20));
}

}  // namespace millrace::server
