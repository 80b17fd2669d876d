#pragma once

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::server {

// Parses a message from its wire format. INVALID_ARGUMENT names the string field that is not UTF-8,
// if that was the reason; gRPC itself would only answer UNIMPLEMENTED. A message that would take
// far more memory than its bytes is INVALID_ARGUMENT too, before it is parsed.
absl::Status ParseMessage(const ByteBuffer& buffer, google::protobuf::Message& message);

// Serialises a message. Returns INTERNAL if it is too large to be sent (2 GiB).
absl::Status SerializeMessage(const google::protobuf::Message& message, ByteBuffer& buffer);

}  // namespace millrace::server
