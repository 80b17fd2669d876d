#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace google::protobuf::io {
class ZeroCopyInputStream;
}  // namespace google::protobuf::io

namespace millrace::server {

// The bytes of one message, in the memory in which the transport keeps them. A buffer is as small
// as a pointer, and its copies share their bytes. Not thread-safe, but copies may be used on
// different threads.
//
// A program links one implementation: byte_buffer.cc, which keeps gRPC's buffers as they are, or
// that of tests without gRPC (tests/fakes/byte_buffer.cc).
class ByteBuffer {
 public:
  // A buffer that holds no message, not even an empty one.
  ByteBuffer();
  // Copies the bytes.
  explicit ByteBuffer(std::string_view bytes);
  // A message of that many bytes, which `fill` writes.
  ByteBuffer(size_t size, absl::FunctionRef<void(uint8_t* bytes)> fill);
  ByteBuffer(const ByteBuffer& other);
  ByteBuffer(ByteBuffer&& other) noexcept;
  ByteBuffer& operator=(const ByteBuffer& other);
  ByteBuffer& operator=(ByteBuffer&& other) noexcept;
  ~ByteBuffer();

  // 0 without a message, too.
  size_t size() const;
  // Lets go of the message.
  void Clear();
  // Calls `read` with the bytes, which are not copied, and returns what it returns; false without a
  // message. May be called again.
  bool Read(absl::FunctionRef<bool(google::protobuf::io::ZeroCopyInputStream& bytes)> read) const;

 private:
  friend struct ByteBufferAccess;

  alignas(void*) unsigned char storage_[sizeof(void*)];
};

}  // namespace millrace::server
