#include <cstdio>
#include <string>

#include "absl/strings/str_format.h"
#include "millrace/v1/admin.grpc.pb.h"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/client/json_text.h"
#include "server/config/command_line.h"

namespace millrace {
namespace {

constexpr const char* kConvictedRow = "%-20s %-28s %12s %9s\n";

int ListConvicted(const ConvictedCommand& command, v1::AdminService::Stub& server) {
  grpc::ClientContext context;
  Prepare(command.client, context);
  v1::ListConvictedRequestsResponse response;
  const grpc::Status status = server.ListConvictedRequests(&context, {}, &response);
  if (!status.ok()) return Fail(Explain(status, command.client));
  if (command.json) return PrintJson(response);
  std::printf(kConvictedRow, "CRASH", "MODEL", "MINUTES LEFT", "REFUSED");
  for (const v1::ConvictedRequest& request : response.requests()) {
    std::printf(kConvictedRow, request.crash().c_str(), request.model().c_str(),
                absl::StrFormat("%.1f", request.seconds_left() / 60).c_str(),
                absl::StrFormat("%d", request.refused_requests()).c_str());
  }
  return kExitOk;
}

int ClearConvicted(const ConvictedCommand& command, v1::AdminService::Stub& server) {
  grpc::ClientContext context;
  Prepare(command.client, context);
  v1::ClearConvictedRequestsRequest request;
  request.set_crash(command.crash);
  v1::ClearConvictedRequestsResponse response;
  const grpc::Status status = server.ClearConvictedRequests(&context, request, &response);
  if (!status.ok()) return Fail(Explain(status, command.client));
  if (command.json) return PrintJson(response);
  std::printf("%u convicted request(s) cleared\n", response.cleared());
  return kExitOk;
}

}  // namespace

int RunConvicted(const ConvictedCommand& command) {
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  const auto server = v1::AdminService::NewStub(*channel);
  return command.clear ? ClearConvicted(command, *server) : ListConvicted(command, *server);
}

}  // namespace millrace
