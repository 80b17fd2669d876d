#include "server/http/http_routes.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_split.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

// Adds what a further registration of the same path says.
void Merge(const HttpRoutes::Route& more, HttpRoutes::Route& route) {
  route.methods += StrCat(route.methods.empty() ? "" : ", ", more.methods);
  route.max_body_bytes = std::max(route.max_body_bytes, more.max_body_bytes);
  route.get_body |= more.get_body;
  route.pattern = more.pattern;
}

}  // namespace

void HttpRoutes::Get(const std::string& pattern, Handler handler) {
  server_.Get(Add(pattern, {"GET, HEAD", max_body_bytes_}), std::move(handler));
}

void HttpRoutes::GetWithBody(const std::string& pattern, Handler handler) {
  server_.Get(Add(pattern, {"GET, HEAD", max_body_bytes_, /*get_body=*/true}), std::move(handler));
}

void HttpRoutes::Post(const std::string& pattern, Handler handler) {
  server_.Post(Add(pattern, {"POST", max_body_bytes_}), std::move(handler));
}

void HttpRoutes::Post(const std::string& pattern, Reader handler) {
  Post(pattern, std::move(handler), max_body_bytes_);
}

void HttpRoutes::Post(const std::string& pattern, Reader handler, size_t max_body_bytes) {
  server_.Post(Add(pattern, {"POST", max_body_bytes}), std::move(handler));
}

HttpRoutes::Route HttpRoutes::Find(std::string_view path) const {
  const std::string_view name =
      path.size() > 1 && path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  if (const auto found = spelled_out_.find(name); found != spelled_out_.end()) return found->second;
  Route route;
  for (const auto& [pattern, served] : patterns_) {
    if (std::regex_match(path.begin(), path.end(), pattern)) Merge(served, route);
  }
  if (route.methods.empty()) route.max_body_bytes = max_body_bytes_;
  return route;
}

bool HttpRoutes::Has(const std::string& methods, const std::string& method) {
  const std::vector<std::string> all = absl::StrSplit(methods, ", ");
  return std::ranges::find(all, method) != all.end();
}

std::string HttpRoutes::Add(const std::string& pattern, const Route& route) {
  largest_ = std::max(largest_, route.max_body_bytes);
  std::string added = pattern + "/?";
  Route named = route;
  named.pattern = pattern;
  if (pattern.find_first_of("\\^$.|?*+()[]{}") == std::string::npos) {
    Merge(named, spelled_out_[pattern]);
  } else {
    patterns_.emplace_back(std::regex(added), named);
  }
  return added;
}

}  // namespace millrace
