#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/httplib_fwd.h"

namespace millrace {

// Lets pages of other origins read the server's answers in a browser (the Fetch standard, "HTTP
// CORS protocol"). Credentials that a browser adds by itself, such as cookies, are never allowed.
// Constant, so any thread may use it.
class Cors {
 public:
  // Origins as a browser writes them, such as "https://chat.example.org:8443", or "*" alone for
  // all; none: other origins may read nothing.
  explicit Cors(std::vector<std::string> origins);

  // Returns true if the request asks, before another one, if that would be allowed.
  bool IsPreflight(const httplib::Request& request) const;
  // Answers a preflight for a path with these methods. An origin that is not allowed gets 403 and
  // no body.
  void AnswerPreflight(const httplib::Request& request, httplib::Response& response,
                       const std::string& methods) const;
  // Adds what lets the page that sent the request read the answer, if it may.
  void AddTo(const httplib::Request& request, httplib::Response& response) const;

  // Returns true if the request may open a WebSocket, to which browsers do not apply the rules
  // above: it is of no page, or of one of this server, or of an origin that is allowed.
  bool MayConnect(const httplib::Request& request) const;

 private:
  bool Allows(std::string_view origin) const;

  const std::vector<std::string> origins_;
  const bool all_;
};

}  // namespace millrace
