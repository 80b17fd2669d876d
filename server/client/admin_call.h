#pragma once

#include <string>
#include <type_traits>

#include "millrace/v1/admin.grpc.pb.h"
#include "server/client/connection.h"

namespace millrace {

// Calls a method of the server's AdminService. Returns false, and prints why, if that fails.
template <typename Request, typename Response>
bool CallAdmin(const ClientOptions& options,
               grpc::Status (v1::AdminService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                              Response*),
               const std::type_identity_t<Request>& request, Response& response) {
  const auto channel = Connect(options);
  if (!channel.ok()) {
    Fail(std::string(channel.status().message()));
    return false;
  }
  grpc::ClientContext context;
  Prepare(options, context);
  const auto admin = v1::AdminService::NewStub(*channel);
  const grpc::Status status = (admin.get()->*method)(&context, request, &response);
  if (!status.ok()) Fail(Explain(status, options));
  return status.ok();
}

}  // namespace millrace
