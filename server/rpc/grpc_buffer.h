#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <new>

#include "server/rpc/byte_buffer_access.h"

namespace millrace::server {

static_assert(sizeof(grpc::ByteBuffer) == sizeof(ByteBuffer));
static_assert(alignof(grpc::ByteBuffer) <= alignof(ByteBuffer));

// Gives the gRPC buffer that a ByteBuffer is in programs that link byte_buffer.cc.
inline grpc::ByteBuffer& ToGrpc(ByteBuffer& buffer) {
  return *std::launder(static_cast<grpc::ByteBuffer*>(ByteBufferAccess::Storage(buffer)));
}
inline const grpc::ByteBuffer& ToGrpc(const ByteBuffer& buffer) {
  return *std::launder(static_cast<const grpc::ByteBuffer*>(ByteBufferAccess::Storage(buffer)));
}

}  // namespace millrace::server
