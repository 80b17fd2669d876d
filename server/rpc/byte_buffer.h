#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace google::protobuf::io {
class ZeroCopyInputStream;
}  // namespace google::protobuf::io

namespace millrace::server {

// The bytes of one message, in the memory of the transport. A buffer is as small as a pointer, and
// its copies share their bytes. Not thread-safe, but copies may be used on different threads.
//
// A program links one implementation: byte_buffer.cc, which holds gRPC's buffers, or the tests' own
// without gRPC (tests/fakes/byte_buffer.cc).
class ByteBuffer {
 public:
  // Makes a buffer without a message, which differs from an empty message.
  ByteBuffer();
  // Copies the bytes.
  explicit ByteBuffer(std::string_view bytes);
  // Makes a message of `size` bytes, which `fill` writes.
  ByteBuffer(size_t size, absl::FunctionRef<void(uint8_t* bytes)> fill);
  ByteBuffer(const ByteBuffer& other);
  ByteBuffer(ByteBuffer&& other) noexcept;
  ByteBuffer& operator=(const ByteBuffer& other);
  ByteBuffer& operator=(ByteBuffer&& other) noexcept;
  ~ByteBuffer();

  // Returns the size of the message; 0 if there is none.
  size_t size() const;
  // Releases the message.
  void Clear();
  // Calls `read` with the bytes, which are not copied, and returns its result; false if there is no
  // message. May be called again.
  bool Read(absl::FunctionRef<bool(google::protobuf::io::ZeroCopyInputStream& bytes)> read) const;

 private:
  friend struct ByteBufferAccess;

  alignas(void*) unsigned char storage_[sizeof(void*)];
};

}  // namespace millrace::server
