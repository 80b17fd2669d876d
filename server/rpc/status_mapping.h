#pragma once

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace millrace::server {

// The one place where our statuses become gRPC's: the code as it is, the message cut to what fits a
// header.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace millrace::server
