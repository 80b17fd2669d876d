#include "server/http/http_routes.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_split.h"
#include "models/core/strings.h"

namespace millrace {

void HttpRoutes::Get(const std::string& pattern, Handler handler) {
  server_.Get(Add(pattern, "GET, HEAD"), std::move(handler));
}

void HttpRoutes::GetWithBody(const std::string& pattern, Handler handler) {
  const std::string added = Add(pattern, "GET, HEAD");
  with_get_body_.emplace_back(added);
  server_.Get(added, std::move(handler));
}

void HttpRoutes::Post(const std::string& pattern, Handler handler) {
  server_.Post(Add(pattern, "POST"), std::move(handler));
}

void HttpRoutes::Post(const std::string& pattern, Reader handler) {
  server_.Post(Add(pattern, "POST"), std::move(handler));
}

std::string HttpRoutes::Methods(const std::string& path) const {
  std::string methods;
  for (const auto& [pattern, served] : routes_) {
    if (std::regex_match(path, pattern)) methods += StrCat(methods.empty() ? "" : ", ", served);
  }
  return methods;
}

bool HttpRoutes::TakesGetBody(const std::string& path) const {
  return std::ranges::any_of(with_get_body_, [&path](const std::regex& pattern) {
    return std::regex_match(path, pattern);
  });
}

bool HttpRoutes::Has(const std::string& methods, const std::string& method) {
  const std::vector<std::string> all = absl::StrSplit(methods, ", ");
  return std::ranges::find(all, method) != all.end();
}

std::string HttpRoutes::Add(const std::string& pattern, const char* methods) {
  std::string added = pattern + "/?";
  routes_.emplace_back(std::regex(added), methods);
  return added;
}

}  // namespace millrace
