#include "server/frontends/http/shared_path.h"

#include <algorithm>
#include <utility>

#include "httplib.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"

namespace millrace::server {

void SharedPaths::Offer(const std::string& route, SharedPathHandler handler) {
  paths_[route].handlers->push_back(std::move(handler));
}

SharedPathHandler SharedPaths::Others(const std::string& route) {
  Path& path = paths_[route];
  path.served = true;
  return AskAll(path);
}

SharedPathHandler SharedPaths::AskAll(const Path& path) {
  return [handlers = path.handlers](const httplib::Request& request, httplib::Response& response,
                                    const std::string& body) {
    return std::ranges::any_of(*handlers, [&](const SharedPathHandler& handler) {
      return handler(request, response, body);
    });
  };
}

void SharedPaths::AddUnserved(HttpServer& server) const {
  for (const auto& [route, path] : paths_) {
    if (path.served) continue;
    const auto answer = [ask = AskAll(path)](const httplib::Request& request,
                                             httplib::Response& response) {
      if (!ask(request, response, request.body)) response.status = 404;
    };
    const size_t space = route.find(' ');
    const std::string pattern = route.substr(space + 1);
    if (route.starts_with("GET ")) {
      server.routes().Get(pattern, answer);
    } else {
      server.routes().Post(pattern, answer);
    }
  }
}

}  // namespace millrace::server
