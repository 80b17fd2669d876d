#pragma once

#include "server/requests/services.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

// Serves nvidia.riva.nmt.RivaTranslation. Thread-safe.
class RivaTranslationService final : public RpcService {
 public:
  explicit RivaTranslationService(Services& services);
};

}  // namespace millrace::server
