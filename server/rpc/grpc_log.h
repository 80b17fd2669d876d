#pragma once

namespace millrace::server {

// Has gRPC's lines go to the server's log, as fields of lines of ours: they quote what clients
// send. What gRPC calls an error is as a rule a client's, so it comes out as a warning, a few lines
// a second at most, and the rest as debug. Before gRPC's first line.
void RouteGrpcLog();

}  // namespace millrace::server
