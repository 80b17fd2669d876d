#pragma once

#include <span>
#include <string_view>

namespace millrace::server {

// A route: what a client may ask for over HTTP. Each is a line in the routes.inc of its front end,
// with these members.
struct RouteDescription {
  std::string_view method;
  std::string_view path;  // with the names of its variable parts in braces
  std::string_view api;   // the protocol that it belongs to
  std::string_view summary;
  std::string_view body = {};                       // an example of its JSON; empty: it takes none
  std::string_view answer = "application/json";     // the type of its answer; empty: it has none
  std::string_view body_type = "application/json";  // the type of its body
  int status = 200;                                 // the status of its answer to the example
  std::string_view query = {};                      // the parameter that its query must have
};

// Returns those of all front ends that are built, in the order in which people read about them.
std::span<const RouteDescription> RouteTable();

}  // namespace millrace::server
