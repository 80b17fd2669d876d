#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "httplib.h"

namespace millrace {

// The paths that a server knows, for which methods and with which bodies. Patterns are regular
// expressions for the whole of a path, which may end with a slash in addition; what is served for
// GET is for HEAD too. A path that a pattern spells out is found without trying the others, and is
// that pattern's alone. Filled before the server starts, then read by any thread.
class HttpRoutes {
 public:
  using Handler = httplib::Server::Handler;
  static constexpr size_t kMaxGetBody = 1024;
  // Reads the body itself.
  using Reader = httplib::Server::HandlerWithContentReader;

  // The properties of a path.
  struct Route {
    std::string methods;        // as an Allow header has them; empty: the path is unknown
    size_t max_body_bytes = 0;  // the most bytes of a request's body
    bool get_body = false;      // GetWithBody added it
    bool whole_body = false;    // the handler gets the body as it came, whatever its type
    std::string pattern = {};   // as it was registered
  };

  // The server must outlive this. max_body_bytes: the limit of routes that have none of their own.
  HttpRoutes(httplib::Server& server, size_t max_body_bytes)
      : server_(server), max_body_bytes_(max_body_bytes), largest_(max_body_bytes) {}

  void Get(const std::string& pattern, Handler handler);
  // For clients that send what they ask for as the body of a GET: one of at most kMaxGetBody bytes
  // is the request's body then. Of other paths such a body is dropped, with the connection.
  void GetWithBody(const std::string& pattern, Handler handler);
  void Post(const std::string& pattern, Handler handler);
  void Post(const std::string& pattern, Reader handler);
  void Post(const std::string& pattern, Reader handler, size_t max_body_bytes);

  void Delete(const std::string& pattern, Handler handler);

  // Returns the method and the pattern of each route, in the order in which they were added; of
  // what is served for GET, only that.
  const std::vector<std::pair<std::string, std::string>>& All() const { return all_; }
  // Returns the methods of all routes, as an Allow header has them.
  std::string Methods() const;
  // Returns what is known of a path, for a request with that method: where it is served, of its
  // first pattern for that, else of all.
  Route Find(std::string_view path, const std::string& method) const;
  // The largest body that any route takes.
  size_t largest_body_bytes() const { return largest_; }
  // Returns true if such a list of methods has the method.
  static bool Has(const std::string& methods, const std::string& method);

 private:
  // Returns the pattern to register a route with.
  std::string Add(const std::string& pattern, const Route& route);

  httplib::Server& server_;
  const size_t max_body_bytes_;
  size_t largest_;
  std::vector<std::pair<std::string, std::string>> all_;
  std::map<std::string, Route, std::less<>> spelled_out_;
  // A pattern with regular expressions. They take microseconds for a path, so the ends that it
  // spells out are compared first.
  struct Pattern {
    std::string begin;
    std::string end;
    std::regex regex;
    Route route;
  };
  static bool Matches(const Pattern& pattern, std::string_view path);
  std::vector<Pattern> patterns_;
};

}  // namespace millrace
