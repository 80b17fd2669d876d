#pragma once

#include "server/config/server_config.h"

namespace millrace::server {

// `millrace serve`: builds everything on the main thread, serves until a signal, stops in order.
// Returns the exit status.
int Serve(const ServerConfig& config);

}  // namespace millrace::server
