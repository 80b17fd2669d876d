#pragma once

namespace millrace::server {

// Routes gRPC's log lines to the server's log, as fields, because they quote what clients send. An
// error of gRPC is usually a client's, so it is logged as a warning, at most a few a second, and
// the rest as debug. Must be called before gRPC logs.
void RouteGrpcLog();

}  // namespace millrace::server
