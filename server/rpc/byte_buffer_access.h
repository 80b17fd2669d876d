#pragma once

#include "server/rpc/byte_buffer.h"

namespace millrace::server {

// Gives access to the memory in which an implementation of ByteBuffer keeps its data.
struct ByteBufferAccess {
  static void* Storage(ByteBuffer& buffer) { return buffer.storage_; }
  static const void* Storage(const ByteBuffer& buffer) { return buffer.storage_; }
};

}  // namespace millrace::server
