#include "server/frontends/front_end.h"

#include "server/rpc/rpc_service.h"

namespace millrace::server {
namespace {

class OwnedServices final : public GrpcPart {
 public:
  explicit OwnedServices(std::vector<std::unique_ptr<RpcService>> services)
      : services_(std::move(services)) {}

  std::vector<RpcService*> services() override {
    std::vector<RpcService*> all;
    for (const auto& service : services_) all.push_back(service.get());
    return all;
  }

 private:
  const std::vector<std::unique_ptr<RpcService>> services_;
};

}  // namespace

std::unique_ptr<GrpcPart> MakeGrpcPart(std::vector<std::unique_ptr<RpcService>> services) {
  return std::make_unique<OwnedServices>(std::move(services));
}

}  // namespace millrace::server
