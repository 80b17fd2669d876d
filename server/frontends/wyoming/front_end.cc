#include "server/frontends/front_end.h"

#include <memory>

#include "server/frontends/wyoming/wyoming_server.h"

namespace millrace::front_ends::wyoming {
namespace {

std::unique_ptr<server::PortServer> MakeServer(const server::FrontEndParts& parts, int inherited) {
  return std::make_unique<server::WyomingServer>(
      parts.session_loop, parts.services,
      server::WyomingServer::Options{.address = parts.config.wyoming_address,
                                     .inherited = inherited,
                                     .stall_timeout = parts.config.write_stall_timeout,
                                     .started = parts.started});
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {
    .name = "wyoming", .address = &ServerConfig::wyoming_address, .make_server = &MakeServer};

}  // namespace millrace::front_ends::wyoming
