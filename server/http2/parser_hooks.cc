// gRPC keeps the messages and headers of a client by references into the buffers that it read them
// from, so one byte keeps all that came with it, up to megabytes. This file defines the functions
// that parse the payloads of DATA and HEADERS frames, as socket_hooks.cc does those that read: they
// give the next ones copies of the payloads, beside which nothing is kept.

#include <dlfcn.h>
#include <grpc/slice.h>
#include <grpcpp/version_info.h>

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

// gRPC puts its count before the bytes of a copy, and 16 KiB, the payload of a long message's
// frames, would then take 20 KiB of most allocators.
constexpr size_t kApart = 4096;

grpc_slice Copy(const grpc_slice& payload) {
  const uint8_t* const bytes = GRPC_SLICE_START_PTR(payload);
  const size_t size = GRPC_SLICE_LENGTH(payload);
  if (size >= kApart) {
    if (void* const copy = std::malloc(size); copy != nullptr) {
      std::memcpy(copy, bytes, size);
      return grpc_slice_new(copy, size, std::free);
    }
  }
  return grpc_slice_from_copied_buffer(reinterpret_cast<const char*>(bytes), size);
}

absl::Status ParseCopy(Parser next, void* parser, grpc_chttp2_transport* transport,
                       grpc_chttp2_stream* stream, const grpc_slice& payload, int is_last) {
  const grpc_slice copy = Copy(payload);
  absl::Status status = next(parser, transport, stream, copy, is_last);
  grpc_slice_unref(copy);
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
  return millrace::server::ParseCopy(next, parser, transport, stream, payload, is_last);
}

absl::Status grpc_chttp2_header_parser_parse(void* parser, grpc_chttp2_transport* transport,
                                             grpc_chttp2_stream* stream, const grpc_slice& payload,
                                             int is_last) {
  static const auto next = millrace::server::NextParser(
      "_Z31grpc_chttp2_header_parser_parsePvP21grpc_chttp2_transportP18grpc_chttp2_"
      "streamRK10grpc_slicei");
  return millrace::server::ParseCopy(next, parser, transport, stream, payload, is_last);
}

#endif
