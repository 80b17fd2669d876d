#include "server/rpc/rpc_service.h"

#include <utility>

#include "models/core/strings.h"

namespace millrace::server {

RpcService::RpcService(std::string_view full_name)
    : descriptor_(*google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
          std::string(full_name))) {}

void RpcService::Serve(std::string_view method, Function function, size_t longest_at_once) {
  const auto& descriptor = *descriptor_.FindMethodByName(std::string(method));
  methods_.push_back(Method{.path = StrCat("/", descriptor_.full_name(), "/", descriptor.name()),
                            .takes_stream = descriptor.client_streaming(),
                            .function = std::move(function),
                            .longest_at_once = longest_at_once});
}

}  // namespace millrace::server
