#include "server/grpc_services.h"

#include <utility>

namespace millrace::server {

GrpcServices::GrpcServices(const FrontEndParts& parts,
                           std::span<const FrontEnd* const> front_ends) {
  for (const FrontEnd* front_end : front_ends) {
    if (front_end->make_grpc == nullptr) continue;
    if (std::unique_ptr<GrpcPart> part = front_end->make_grpc(parts))
      parts_.push_back(std::move(part));
  }
}

std::vector<RpcService*> GrpcServices::All() {
  std::vector<RpcService*> all;
  for (const auto& part : parts_) {
    for (RpcService* service : part->services()) all.push_back(service);
  }
  return all;
}

const CommonTrailer* GrpcServices::trailer() const {
  for (const auto& part : parts_) {
    if (const CommonTrailer* trailer = part->trailer()) return trailer;
  }
  return nullptr;
}

void GrpcServices::EndStreams() {
  for (const auto& part : parts_) part->EndStreams();
}

}  // namespace millrace::server
