#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "models/core/strings.h"
#include "server/client/admin_call.h"
#include "server/client/client.h"
#include "server/client/json_text.h"
#include "server/config/command_line.h"

namespace millrace {
namespace {

constexpr const char* kHeadings = "%-20s %-12s %10s %9s %12s %9s %9s  %s\n";
constexpr const char* kUsageRow = "%-20s %-12s %10s %9s %12s %9.1f %9.1f  %s\n";

std::string Limits(const v1::KeyUsage& key) {
  std::string limits;
  for (const v1::KeyLimit& limit : key.limits()) {
    absl::StrAppend(&limits, limits.empty() ? "" : ", ", limit.name(), " ", limit.left(), "/",
                    limit.allowed());
  }
  return limits.empty() ? "-" : limits;
}

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

int RunLoad(const LoadCommand& command) {
  v1::LoadModelRequest request;
  request.set_model(command.model);
  v1::LoadModelResponse response;
  if (!CallAdmin(command.client, &v1::AdminService::Stub::LoadModel, request, response))
    return kExitFailed;
  std::printf("%s version %s is loaded\n", response.model().name().c_str(),
              response.model().version().c_str());
  return kExitOk;
}

int RunUnload(const UnloadCommand& command) {
  v1::UnloadModelRequest request;
  request.set_model(command.model);
  v1::UnloadModelResponse response;
  if (!CallAdmin(command.client, &v1::AdminService::Stub::UnloadModel, request, response))
    return kExitFailed;
  std::printf("%s is unloaded\n", command.model.c_str());
  return kExitOk;
}

int RunUsage(const UsageCommand& command) {
  v1::ListKeyUsageResponse response;
  if (!CallAdmin(command.client, &v1::AdminService::Stub::ListKeyUsage, {}, response))
    return kExitFailed;
  if (command.json) return PrintJson(response);
  std::printf(kHeadings, "KEY", "TIER", "REQUESTS", "REFUSED", "CHARACTERS", "AUDIO s", "WORKER s",
              "LEFT");
  for (const v1::KeyUsage& key : response.keys()) {
    std::printf(kUsageRow, key.key().empty() ? "(none)" : key.key().c_str(), key.tier().c_str(),
                StrCat(key.requests()).c_str(), StrCat(key.refused_requests()).c_str(),
                StrCat(key.characters()).c_str(), key.audio_seconds(), key.worker_seconds(),
                Limits(key).c_str());
  }
  return kExitOk;
}

int RunConvicted(const ConvictedCommand& command) {
  return command.clear ? ClearConvicted(command) : ListConvicted(command);
}

}  // namespace millrace
