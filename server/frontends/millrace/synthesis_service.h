#pragma once

#include "server/requests/services.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

// Serves millrace.v1.SynthesisService. Thread-safe.
class SynthesisService final : public RpcService {
 public:
  explicit SynthesisService(Services& services);
};

}  // namespace millrace::server
