#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/file.h"

namespace millrace::server {

// The most descriptors that one message may carry.
inline constexpr size_t kMostDescriptors = 64;

// Sends copies of descriptors over a Unix socket, with one byte that is no part of a frame.
// 1 .. kMostDescriptors of them. Never waits.
absl::Status SendDescriptors(int socket, std::span<const int> descriptors);
// Waits for what SendDescriptors sends. They are closed on exec. Fails with UNAVAILABLE if the
// other side is gone, and INVALID_ARGUMENT if it sends something else.
absl::StatusOr<std::vector<FileDescriptor>> ReceiveDescriptors(int socket);

}  // namespace millrace::server
