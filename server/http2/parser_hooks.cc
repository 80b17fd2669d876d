// gRPC keeps the messages and headers of a client by references into the buffers that it read them
// from, so one byte keeps all that came with it, up to megabytes. This file defines the functions
// that parse the payloads of DATA and HEADERS frames, as socket_hooks.cc does those that read: they
// give the next ones copies of the payloads, beside which nothing is kept.

#include <dlfcn.h>
#include <grpc/slice.h>
#include <grpcpp/version_info.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"

// Later versions differ in what they keep.
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR == 51

struct grpc_chttp2_transport;
struct grpc_chttp2_stream;

namespace millrace::server {
namespace {

using Parser = absl::Status (*)(void* parser, grpc_chttp2_transport* transport,
                                grpc_chttp2_stream* stream, const grpc_slice& payload, int is_last);

Parser NextParser(const char* name) { return reinterpret_cast<Parser>(dlsym(RTLD_NEXT, name)); }

// gRPC puts its count before the bytes of a copy, which rounds up the size of a long one.
constexpr size_t kApart = 4096;
// The payload of a long message's frames, 16 KiB, takes 20 KiB of jemalloc, which gives one page
// more to all that is longer than this; in two pieces it takes what it has.
constexpr size_t kLongestPiece = 14 << 10;

grpc_slice Copy(const uint8_t* bytes, size_t size) {
  if (size >= kApart) {
    if (void* const copy = std::malloc(size); copy != nullptr) {
      std::memcpy(copy, bytes, size);
      return grpc_slice_new(copy, size, std::free);
    }
  }
  return grpc_slice_from_copied_buffer(reinterpret_cast<const char*>(bytes), size);
}

// longest: of a copy.
absl::Status ParseCopies(Parser next, void* parser, grpc_chttp2_transport* transport,
                         grpc_chttp2_stream* stream, const grpc_slice& payload, int is_last,
                         size_t longest) {
  const uint8_t* bytes = GRPC_SLICE_START_PTR(payload);
  size_t left = GRPC_SLICE_LENGTH(payload);
  absl::Status status;
  do {
    const size_t size = std::min(left, longest);
    const grpc_slice copy = Copy(bytes, size);
    bytes += size;
    left -= size;
    status = next(parser, transport, stream, copy, left == 0 ? is_last : 0);
    grpc_slice_unref(copy);
  } while (left != 0 && status.ok());
  return status;
}

}  // namespace
}  // namespace millrace::server

absl::Status grpc_chttp2_data_parser_parse(void* parser, grpc_chttp2_transport* transport,
                                           grpc_chttp2_stream* stream, const grpc_slice& payload,
                                           int is_last) {
  static const auto next = millrace::server::NextParser(
      "_Z29grpc_chttp2_data_parser_parsePvP21grpc_chttp2_transportP18grpc_chttp2_"
      "streamRK10grpc_slicei");
  return millrace::server::ParseCopies(next, parser, transport, stream, payload, is_last,
                                       millrace::server::kLongestPiece);
}

absl::Status grpc_chttp2_header_parser_parse(void* parser, grpc_chttp2_transport* transport,
                                             grpc_chttp2_stream* stream, const grpc_slice& payload,
                                             int is_last) {
  static const auto next = millrace::server::NextParser(
      "_Z31grpc_chttp2_header_parser_parsePvP21grpc_chttp2_transportP18grpc_chttp2_"
      "streamRK10grpc_slicei");
  return millrace::server::ParseCopies(next, parser, transport, stream, payload, is_last,
                                       GRPC_SLICE_LENGTH(payload));
}

#endif
