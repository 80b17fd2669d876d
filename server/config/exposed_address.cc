#include "server/config/exposed_address.h"

#include "models/core/errors.h"
#include "server/net/address_policy.h"

namespace millrace {

bool IsExposed(const std::string& address) {
  return !address.empty() && !IsLoopbackAddress(address);
}

absl::Status ReachableWithoutTls(std::string_view option, const std::string& address,
                                 std::string_view remedy) {
  return InvalidArgument("--", std::string(option), ": ", address,
                         " can be reached from other machines without TLS; ", std::string(remedy));
}

}  // namespace millrace
