#pragma once

#include "server/config/server_config.h"

namespace millrace::server {

// Runs `millrace serve`: builds everything on the main thread, serves until a signal, and stops in
// order. Returns the exit status.
int Serve(const ServerConfig& config);

}  // namespace millrace::server
