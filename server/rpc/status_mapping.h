#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace millrace::server {

// Converts a status to gRPC's, the only place that does: the code stays, and the message is cut to
// fit a header.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace millrace::server
