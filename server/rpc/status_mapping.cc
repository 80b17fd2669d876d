#include "server/rpc/status_mapping.h"

#include <string>

#include "models/core/strings.h"
#include "models/core/utf8.h"

namespace millrace::server {
namespace {

// Statuses travel in trailers, whose default limit is 8 KiB in all, and a byte beyond ASCII takes
// three there.
constexpr size_t kMaxMessage = 1024;

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string message(Message(status).substr(0, kMaxMessage));
  if (status.message().size() > kMaxMessage) {
    // The last character may be cut.
    while (!message.empty() && IsContinuationByte(message.back())) message.pop_back();
    if (!message.empty() && (message.back() & 0x80) != 0) message.pop_back();
    message += "...";
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message);
}

}  // namespace millrace::server
