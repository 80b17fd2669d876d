#pragma once

#include <string>
#include <vector>

#include "server/rpc/rpc_service.h"

namespace millrace::server {

// grpc.reflection describes the server's services to tools. No key is needed. Thread-safe. gRPC's
// own implementation supports only v1alpha, and would bring the callback threads that PollingThread
// does without.
class ReflectionService final : public RpcService {
 public:
  // The messages of both versions are the same bytes on the wire.
  enum class Version { kV1, kV1Alpha };
  static std::string FullName(Version version);

  // services: full names of all services to describe.
  ReflectionService(Version version, std::vector<std::string> services);

 private:
  class Call;

  const std::vector<std::string> services_;
};

}  // namespace millrace::server
