#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
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

}  // namespace

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

}  // namespace millrace
