#include "server/rpc/status_mapping.h"

#include <string>

#include "models/core/strings.h"

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
    while (!message.empty() && (message.back() & 0xC0) == 0x80)
      message.pop_back();  // not inside a UTF-8 sequence
    if (!message.empty() && (message.back() & 0x80) != 0) message.pop_back();
    message += "...";
  }
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message);
}

}  // namespace millrace::server
