#pragma once

#include <string>
#include <vector>

#include "server/rpc/rpc_service.h"

namespace millrace::server {

// grpc.reflection: tells tools what the server's services look like. Needs no key. Thread-safe.
// gRPC's own knows but v1alpha, and would bring the callback threads that PollingThread does
// without.
class ReflectionService final : public RpcService {
 public:
  // Their messages are the same bytes on the wire.
  enum class Version { kV1, kV1Alpha };
  static std::string FullName(Version version);

  // services: full names of all that are to be seen.
  ReflectionService(Version version, std::vector<std::string> services);

 private:
  class Call;

  const std::vector<std::string> services_;
};

}  // namespace millrace::server
