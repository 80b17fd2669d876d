#pragma once

#include "absl/status/status.h"
#include "server/http/httplib_fwd.h"

namespace millrace {

class ApiKeyStore;

// Returns OK if the sender of a request may change the server. With keys that is a holder of one
// with the role `admin`: otherwise UNAUTHENTICATED or PERMISSION_DENIED. If keys is null, it is
// anybody but pages of other origins (PERMISSION_DENIED), which may send requests by way of the
// browser of a user who can reach the server. An origin whose host is a name is treated as another
// one, because the owner of a name decides which address it leads to.
absl::Status AuthorizeHttpAdmin(const httplib::Request& request, const ApiKeyStore* keys);

}  // namespace millrace
