#include "server/http/cors.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "httplib.h"

namespace millrace {
namespace {

constexpr char kAll[] = "*";
// Answers' headers that a page may read besides the few that it always may.
constexpr char kExposed[] =
    "X-Request-Id, Retry-After, Retry-After-Ms, RateLimit, RateLimit-Policy, Warning, "
    "Inference-Header-Content-Length";
constexpr char kPreflightSeconds[] = "600";
constexpr size_t kMaxHeaderNames = 2048;

// Names of headers with commas and blanks, short enough to be sent back.
bool AreHeaderNames(std::string_view names) {
  return !names.empty() && names.size() <= kMaxHeaderNames &&
         std::ranges::all_of(names, [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == ',' || c == ' ';
         });
}

}  // namespace

Cors::Cors(std::vector<std::string> origins)
    : origins_(std::move(origins)), all_(origins_.size() == 1 && origins_[0] == kAll) {}

bool Cors::Allows(std::string_view origin) const {
  return all_ || std::ranges::find(origins_, origin) != origins_.end();
}

bool Cors::MayConnect(const httplib::Request& request) const {
  const std::string origin = request.get_header_value("Origin");
  if (origin.empty() || Allows(origin)) return true;
  const std::string host = request.get_header_value("Host");
  return !host.empty() && (origin == "http://" + host || origin == "https://" + host);
}

bool Cors::IsPreflight(const httplib::Request& request) const {
  return !origins_.empty() && request.method == "OPTIONS" && request.has_header("Origin") &&
         request.has_header("Access-Control-Request-Method");
}

void Cors::AnswerPreflight(const httplib::Request& request, httplib::Response& response,
                           const std::string& methods) const {
  if (!Allows(request.get_header_value("Origin"))) {
    response.status = 403;
    return;
  }
  response.status = 204;
  response.set_header("Access-Control-Allow-Methods", methods);
  // Clients send headers of their own, so whatever a page asks for is allowed: none is trusted.
  const std::string names = request.get_header_value("Access-Control-Request-Headers");
  if (AreHeaderNames(names)) response.set_header("Access-Control-Allow-Headers", names);
  response.set_header("Access-Control-Max-Age", kPreflightSeconds);
}

void Cors::AddTo(const httplib::Request& request, httplib::Response& response) const {
  if (origins_.empty()) return;
  // A cache must not give the answer for one origin to another.
  if (!all_) response.set_header("Vary", "Origin");
  const std::string origin = request.get_header_value("Origin");
  if (origin.empty() || !Allows(origin)) return;
  response.set_header("Access-Control-Allow-Origin", all_ ? kAll : origin.c_str());
  response.set_header("Access-Control-Expose-Headers", kExposed);
}

}  // namespace millrace
