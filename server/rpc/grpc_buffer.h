#pragma once

#include <new>

#include "grpcpp/support/byte_buffer.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::server {

// Gives the gRPC buffer that a ByteBuffer is in programs that link byte_buffer.cc.
struct ByteBufferAccess {
  static_assert(sizeof(grpc::ByteBuffer) == sizeof(ByteBuffer));
  static_assert(alignof(grpc::ByteBuffer) <= alignof(ByteBuffer));

  static void* Storage(ByteBuffer& buffer) { return buffer.storage_; }
  static grpc::ByteBuffer& Grpc(ByteBuffer& buffer) {
    return *std::launder(reinterpret_cast<grpc::ByteBuffer*>(buffer.storage_));
  }
  static const grpc::ByteBuffer& Grpc(const ByteBuffer& buffer) {
    return *std::launder(reinterpret_cast<const grpc::ByteBuffer*>(buffer.storage_));
  }
};

inline grpc::ByteBuffer& ToGrpc(ByteBuffer& buffer) { return ByteBufferAccess::Grpc(buffer); }
inline const grpc::ByteBuffer& ToGrpc(const ByteBuffer& buffer) {
  return ByteBufferAccess::Grpc(buffer);
}

}  // namespace millrace::server
