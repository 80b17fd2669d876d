#pragma once

#include <string>

#include "google/protobuf/io/zero_copy_stream.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::testing {

// The bytes of a message; empty without one.
inline std::string ByteText(const server::ByteBuffer& buffer) {
  std::string text;
  buffer.Read([&text](google::protobuf::io::ZeroCopyInputStream& bytes) {
    const void* data = nullptr;
    int size = 0;
    while (bytes.Next(&data, &size)) text.append(static_cast<const char*>(data), size);
    return true;
  });
  return text;
}

}  // namespace millrace::testing
