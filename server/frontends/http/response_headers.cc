#include "server/frontends/http/response_headers.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "httplib.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxNames = 16;
constexpr size_t kMaxNameBytes = 64;

std::string HeaderSafe(std::string_view name) {
  std::string safe(name.substr(0, kMaxNameBytes));
  std::ranges::replace_if(
      safe, [](unsigned char c) { return !absl::ascii_isgraph(c) || c == '"' || c == '\\'; }, '?');
  if (name.size() > kMaxNameBytes) safe += "...";
  return safe;
}

}  // namespace

std::string IgnoredMembersWarning(std::span<const std::string> names) {
  std::string warning = "299 millrace \"ignored members: ";
  const size_t named = std::min(names.size(), kMaxNames);
  for (size_t i = 0; i < named; ++i) warning += StrCat(i == 0 ? "" : ", ", HeaderSafe(names[i]));
  if (names.size() > named) warning += StrCat(" and ", names.size() - named, " more");
  return warning + '"';
}

void SetRateLimitHeaders(const RequestRun& run, httplib::Response& response) {
  const RateLimitFields limit = run.rate_limit();
  if (limit.policy.empty()) return;
  response.set_header("RateLimit-Policy", limit.policy);
  response.set_header("RateLimit", limit.state);
}

}  // namespace millrace::server
