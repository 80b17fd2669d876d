#pragma once

#include "server/requests/services.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

// Serves nvidia.riva.tts.RivaSpeechSynthesis. Thread-safe.
class RivaSynthesisService final : public RpcService {
 public:
  explicit RivaSynthesisService(Services& services);
};

}  // namespace millrace::server
