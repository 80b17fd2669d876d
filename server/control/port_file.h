#pragma once

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace millrace::server {

struct Ports {
  int grpc = 0;
  int http = 0;     // 0: not served
  int metrics = 0;  // 0: not served
  // The ports of front ends that have one of their own, by their names; 0: not served.
  std::vector<std::pair<std::string_view, int>> others = {};
};

// Writes the ports as JSON, unless the file's name is empty. A reader never sees half of it. Fails
// with UNAVAILABLE, which names --port-file.
absl::Status WritePortFile(const std::filesystem::path& file, const Ports& ports);

}  // namespace millrace::server
