#include "server/rpc/rpc_service.h"

#include <exception>
#include <utility>

#include "grpcpp/impl/rpc_service_method.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

using grpc::internal::RpcMethod;

RpcMethod::RpcType TypeOf(bool takes_stream, bool gives_stream) {
  if (takes_stream) return RpcMethod::BIDI_STREAMING;
  return gives_stream ? RpcMethod::SERVER_STREAMING : RpcMethod::NORMAL_RPC;
}

}  // namespace

RpcService::RpcService(std::string_view full_name)
    : descriptor_(*google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(
          std::string(full_name))) {}

void RpcService::Serve(std::string_view method, Function function, size_t longest_at_once) {
  const auto& descriptor = *descriptor_.FindMethodByName(std::string(method));
  const Method& added = methods_.emplace_back(
      Method{.path = StrCat("/", descriptor_.full_name(), "/", descriptor.name()),
             .takes_stream = descriptor.client_streaming(),
             .gives_stream = descriptor.server_streaming(),
             .function = std::move(function),
             .longest_at_once = longest_at_once});
  AddMethod(new grpc::internal::RpcServiceMethod(
      added.path.c_str(), TypeOf(added.takes_stream, added.gives_stream), nullptr));
  MarkMethodRaw(static_cast<int>(methods_.size()) - 1);
}

std::vector<std::string> RpcService::MethodNames() const {
  std::vector<std::string> names;
  for (const Method& method : methods_)
    names.push_back(method.path.substr(method.path.rfind('/') + 1));
  return names;
}

void RpcService::Begin(size_t method, Rpc& rpc) {
  try {
    methods_[method].function(rpc);
  } catch (const std::exception& error) {
    rpc.Finish(grpc::Status(grpc::StatusCode::INTERNAL, error.what()));
  }
}

void RpcService::Request(size_t method, grpc::ServerContext& context, grpc::ByteBuffer& request,
                         grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>& stream,
                         grpc::ServerCompletionQueue& queue, Event& came) {
  const int index = static_cast<int>(method);
  if (methods_[method].takes_stream) {
    RequestAsyncBidiStreaming(index, &context, &stream, &queue, &queue, &came);
  } else if (methods_[method].gives_stream) {
    RequestAsyncServerStreaming(index, &context, &request, &stream, &queue, &queue, &came);
  } else {
    RequestAsyncUnary(index, &context, &request, &stream, &queue, &queue, &came);
  }
}

}  // namespace millrace::server
