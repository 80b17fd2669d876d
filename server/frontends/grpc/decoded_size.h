#pragma once

#include <cstdint>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/zero_copy_stream.h"

namespace millrace::server {

// Estimates the memory that a message takes once it is parsed, from its wire format: a submessage
// of two bytes takes two hundred. Returns `limit` or a little more if it takes more than that, and
// less than it takes if the bytes are no message of this type. Reads the tags, not the strings.
uint64_t DecodedSize(google::protobuf::io::ZeroCopyInputStream& bytes,
                     const google::protobuf::Descriptor& type, uint64_t limit);

}  // namespace millrace::server
