#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/http/httplib_fwd.h"

namespace millrace {
class HttpServer;
}

namespace millrace::server {

// Answers a request to a path that several protocols share, whose body was read. Returns false, and
// does nothing, if the request is not of its protocols.
using SharedPathHandler = std::function<bool(const httplib::Request& request,
                                             httplib::Response& response, const std::string& body)>;

// The paths over HTTP that several protocols share: one of them serves the path and asks the others
// first. They know each other by the path alone, so any of them may be left out, and they may add
// their routes in any order. Filled before the server starts, and then read by any thread.
class SharedPaths {
 public:
  // Adds what is asked about requests such as "POST /translate", for which another protocol serves
  // the path.
  void Offer(const std::string& route, SharedPathHandler handler);
  // Returns what asks all that are offered for the route, also after this call. For the one that
  // serves the path.
  SharedPathHandler Others(const std::string& route);
  // Adds the routes that were offered and that nobody serves, because that protocol was left out:
  // they answer 404 where none of those asked has an answer. Called once, after the routes of all
  // protocols were added.
  void AddUnserved(HttpServer& server) const;

 private:
  struct Path {
    bool served = false;
    std::shared_ptr<std::vector<SharedPathHandler>> handlers =
        std::make_shared<std::vector<SharedPathHandler>>();
  };
  static SharedPathHandler AskAll(const Path& path);

  std::map<std::string, Path> paths_;  // by route
};

}  // namespace millrace::server
