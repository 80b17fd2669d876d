#pragma once

#include "server/config/server_config.h"

namespace millrace::server {

// `millrace check`: whether Serve would find its files, models and device usable; prints what it
// found. Returns the exit status.
int Check(const ServerConfig& config);

}  // namespace millrace::server
