#pragma once

#include "server/rpc/rpc_service.h"
#include "server/services/services.h"

namespace millrace::server {

// millrace.v1.SynthesisService. Thread-safe.
class SynthesisService final : public RpcService {
 public:
  explicit SynthesisService(Services& services);
};

}  // namespace millrace::server
