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

  // path: such as "/package.Service/Method". Null for a method that no service serves.
  const RpcService::Method* Find(std::string_view path) const;
  // Tells a client that called such a path what there is instead.
  std::string ExplainUnknown(std::string_view path) const;

 private:
  const std::vector<RpcService*> services_;
  std::unordered_map<std::string_view, const RpcService::Method*> methods_;  // the services' own
};

}  // namespace millrace::server
