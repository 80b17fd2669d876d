#pragma once

#include "server/config/server_config.h"

namespace millrace::server {

// Runs `millrace check`: prints whether Serve would find its files, models and device usable.
// Returns the exit status.
int Check(const ServerConfig& config);

}  // namespace millrace::server
