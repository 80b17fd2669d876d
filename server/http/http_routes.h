#pragma once

#include <cstddef>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "httplib.h"

namespace millrace {

// The paths that a server knows, and for which methods. Patterns are regular expressions for the
// whole of a path, which may end with a slash in addition; what is served for GET is for HEAD too.
// Filled before the server starts, then read by any thread.
class HttpRoutes {
 public:
  using Handler = httplib::Server::Handler;
  static constexpr size_t kMaxGetBody = 1024;
  // Reads the body itself.
  using Reader = httplib::Server::HandlerWithContentReader;

  // The server must outlive this.
  explicit HttpRoutes(httplib::Server& server) : server_(server) {}

  void Get(const std::string& pattern, Handler handler);
  // For clients that send what they ask for as the body of a GET: one of at most kMaxGetBody bytes
  // is the request's body then. Of other paths such a body is dropped, with the connection.
  void GetWithBody(const std::string& pattern, Handler handler);
  void Post(const std::string& pattern, Handler handler);
  void Post(const std::string& pattern, Reader handler);

  // The methods of a path, as an Allow header has them; empty: it is unknown.
  std::string Methods(const std::string& path) const;
  // Returns true if the path is one of GetWithBody.
  bool TakesGetBody(const std::string& path) const;
  // Returns true if such a list has the method.
  static bool Has(const std::string& methods, const std::string& method);

 private:
  // Returns the pattern to register a route with.
  std::string Add(const std::string& pattern, const char* methods);

  httplib::Server& server_;
  std::vector<std::pair<std::regex, const char*>> routes_;
  std::vector<std::regex> with_get_body_;
};

}  // namespace millrace
