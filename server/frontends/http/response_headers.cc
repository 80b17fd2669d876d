#include "server/frontends/http/response_headers.h"

#include <vector>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/json/ignored_members.h"

namespace millrace::server {

void AddWarning(const std::string& warning, httplib::Response& response) {
  if (!warning.empty()) response.set_header("Warning", warning);
}

void AddWarningOfOthers(const nlohmann::json& members,
                        std::initializer_list<std::string_view> known,
                        httplib::Response& response) {
  std::vector<std::string> ignored;
  AddIgnored(members, known, "", ignored);
  AddWarning(IgnoredMembersWarning(ignored), response);
}

void SetRateLimitHeaders(const RequestRun& run, httplib::Response& response) {
  const RateLimitFields limit = run.rate_limit();
  if (limit.policy.empty()) return;
  response.set_header("RateLimit-Policy", limit.policy);
  response.set_header("RateLimit", limit.state);
}

}  // namespace millrace::server
