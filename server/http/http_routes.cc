#include "server/http/http_routes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

// The characters that mean something in a pattern, and those that make the one before optional.
constexpr std::string_view kSpecial = "\\^$.|?*+()[]{}";
constexpr std::string_view kRepeats = "?*{";

std::string_view WithoutSlash(std::string_view path) {
  return path.size() > 1 && path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
}

// Adds what a further registration of the same path says.
void Merge(const HttpRoutes::Route& more, HttpRoutes::Route& route) {
  route.methods += StrCat(route.methods.empty() ? "" : ", ", more.methods);
  route.max_body_bytes = std::max(route.max_body_bytes, more.max_body_bytes);
  route.get_body |= more.get_body;
  route.whole_body |= more.whole_body;
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
  const Route route{.methods = "POST", .max_body_bytes = max_body_bytes_, .whole_body = true};
  server_.Post(Add(pattern, route), std::move(handler));
}

void HttpRoutes::Post(const std::string& pattern, Reader handler) {
  Post(pattern, std::move(handler), max_body_bytes_);
}

void HttpRoutes::Post(const std::string& pattern, Reader handler, size_t max_body_bytes) {
  server_.Post(Add(pattern, {"POST", max_body_bytes}), std::move(handler));
}

void HttpRoutes::Delete(const std::string& pattern, Handler handler) {
  server_.Delete(Add(pattern, {"DELETE", max_body_bytes_}), std::move(handler));
}

bool HttpRoutes::Matches(const Pattern& pattern, std::string_view path) {
  const std::string_view name = WithoutSlash(path);
  return path.starts_with(pattern.begin) &&
         (name.ends_with(pattern.end) || path.ends_with(pattern.end)) &&
         std::regex_match(path.begin(), path.end(), pattern.regex);
}

std::string HttpRoutes::Methods() const {
  std::string methods;
  for (const auto& [method, pattern] : all_) {
    if (Has(methods, method)) continue;
    absl::StrAppend(&methods, methods.empty() ? "" : ", ", method, method == "GET" ? ", HEAD" : "");
  }
  return methods;
}

HttpRoutes::Route HttpRoutes::Find(std::string_view path, const std::string& method) const {
  const auto found = spelled_out_.find(WithoutSlash(path));
  if (found != spelled_out_.end()) return found->second;
  for (const Pattern& pattern : patterns_) {
    if (Has(pattern.route.methods, method) && Matches(pattern, path)) return pattern.route;
  }
  Route route;
  for (const Pattern& pattern : patterns_) {
    if (Matches(pattern, path)) Merge(pattern.route, route);
  }
  if (route.methods.empty()) route.max_body_bytes = max_body_bytes_;
  return route;
}

bool HttpRoutes::Has(const std::string& methods, const std::string& method) {
  for (const absl::string_view one : absl::StrSplit(methods, ", ")) {
    if (one == method) return true;
  }
  return false;
}

std::string HttpRoutes::Add(const std::string& pattern, const Route& route) {
  largest_ = std::max(largest_, route.max_body_bytes);
  all_.emplace_back(route.methods.substr(0, route.methods.find(',')), pattern);
  std::string added = pattern + "/?";
  Route named = route;
  named.pattern = pattern;
  const size_t first = pattern.find_first_of(kSpecial);
  if (first == pattern.npos) {
    Merge(named, spelled_out_[pattern]);
    return added;
  }
  Pattern& made = patterns_.emplace_back();
  made.regex = std::regex(added);
  made.route = named;
  // Alternatives may share neither end.
  if (pattern.find('|') != pattern.npos) return added;
  made.begin = pattern.substr(0, first);
  if (kRepeats.find(pattern[first]) != kRepeats.npos && !made.begin.empty()) made.begin.pop_back();
  made.end = pattern.substr(pattern.find_last_of(kSpecial) + 1);
  return added;
}

}  // namespace millrace
