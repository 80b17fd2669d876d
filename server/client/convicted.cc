#include <cstdio>

#include "absl/strings/str_format.h"
#include "server/client/admin_call.h"
#include "server/client/client.h"
#include "server/client/json_text.h"
#include "server/config/command_line.h"

namespace millrace {
namespace {

constexpr const char* kConvictedRow = "%-20s %-28s %12s %9s\n";

int ListConvicted(const ConvictedCommand& command) {
  v1::ListConvictedRequestsResponse response;
  if (!CallAdmin(command.client, &v1::AdminService::Stub::ListConvictedRequests, {}, response))
    return kExitFailed;
  if (command.json) return PrintJson(response);
  std::printf(kConvictedRow, "CRASH", "MODEL", "MINUTES LEFT", "REFUSED");
  for (const v1::ConvictedRequest& request : response.requests()) {
    std::printf(kConvictedRow, request.crash().c_str(), request.model().c_str(),
                absl::StrFormat("%.1f", request.seconds_left() / 60).c_str(),
                absl::StrFormat("%d", request.refused_requests()).c_str());
  }
  return kExitOk;
}

int ClearConvicted(const ConvictedCommand& command) {
  v1::ClearConvictedRequestsRequest request;
  request.set_crash(command.crash);
  v1::ClearConvictedRequestsResponse response;
  if (!CallAdmin(command.client, &v1::AdminService::Stub::ClearConvictedRequests, request,
                 response))
    return kExitFailed;
  if (command.json) return PrintJson(response);
  std::printf("%u convicted request(s) cleared\n", response.cleared());
  return kExitOk;
}

}  // namespace

int RunConvicted(const ConvictedCommand& command) {
  return command.clear ? ClearConvicted(command) : ListConvicted(command);
}

}  // namespace millrace
