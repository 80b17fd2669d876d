#include "server/frontends/openapi/route_table.h"

#include <algorithm>
#include <vector>

namespace millrace::server {
namespace {

constexpr std::string_view kAudio = "audio/mpeg";
constexpr std::string_view kNothing = "";
constexpr std::string_view kAnyType = "*/*";  // the type depends on the file
constexpr int kSwitches = 101;                // the connection goes on as a WebSocket
constexpr std::string_view kEvents = "text/event-stream";

std::vector<RouteDescription> MakeTable() {
  std::vector<RouteDescription> table;
  // A path that several protocols share is described by the first of them.
  const auto add = [&table](const RouteDescription& route) {
    const bool known = std::ranges::any_of(table, [&route](const RouteDescription& other) {
      return other.method == route.method && other.path == route.path;
    });
    if (!known) table.push_back(route);
  };
#define MILLRACE_ROUTE(...) add({__VA_ARGS__});
#include "server/frontends/openapi/front_end_routes.inc"
#undef MILLRACE_ROUTE
  return table;
}

}  // namespace

std::span<const RouteDescription> RouteTable() {
  static const std::vector<RouteDescription> table = MakeTable();
  return table;
}

}  // namespace millrace::server
