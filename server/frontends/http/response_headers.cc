#include "server/frontends/http/response_headers.h"

#include "httplib.h"

namespace millrace::server {

void AddWarning(const std::string& warning, httplib::Response& response) {
  if (!warning.empty()) response.set_header("Warning", warning);
}

void SetRateLimitHeaders(const RequestRun& run, httplib::Response& response) {
  const RateLimitFields limit = run.rate_limit();
  if (limit.policy.empty()) return;
  response.set_header("RateLimit-Policy", limit.policy);
  response.set_header("RateLimit", limit.state);
}

}  // namespace millrace::server
