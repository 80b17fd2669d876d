#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/rpc/rpc_service.h"

namespace millrace::server {

// The methods of all services by their paths. Immutable, hence thread-safe.
class MethodTable {
 public:
  // The services must outlive it.
  explicit MethodTable(const std::vector<RpcService*>& services);
  MethodTable(const MethodTable&) = delete;
  MethodTable& operator=(const MethodTable&) = delete;

  // Returns the method of a path such as "/package.Service/Method"; null if no service has it.
  const RpcService::Method* Find(std::string_view path) const;
  // Returns the message for a client that called an unknown path, with what exists instead.
  std::string ExplainUnknown(std::string_view path) const;

 private:
  const std::vector<RpcService*> services_;
  std::unordered_map<std::string_view, const RpcService::Method*> methods_;  // services_' methods
};

}  // namespace millrace::server
