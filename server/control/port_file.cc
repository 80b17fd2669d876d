#include "server/control/port_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "models/core/errors.h"

namespace millrace::server {

absl::Status WritePortFile(const std::filesystem::path& file, const Ports& ports) {
  if (file.empty()) return absl::OkStatus();
  std::error_code error;
  // A rename would put a file in the place of a device such as /dev/null.
  if (const auto there = std::filesystem::status(file, error);
      std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    return Unavailable("--port-file ", file.string(), ": is not a file");
  }
  const std::string partial = file.string() + ".partial";
  {
    errno = 0;
    std::ofstream stream(partial, std::ios::trunc);
    stream << "{\"grpc\": " << ports.grpc << ", \"http\": " << ports.http
           << ", \"metrics\": " << ports.metrics;
    for (const auto& [name, port] : ports.others) stream << ", \"" << name << "\": " << port;
    stream << "}\n";
    stream.close();
    if (!stream) {
      return Unavailable("--port-file ", file.string(),
                         ": cannot be written: ", std::strerror(errno));
    }
  }
  std::filesystem::rename(partial, file, error);
  if (error) return Unavailable("--port-file ", file.string(), ": ", error.message());
  return absl::OkStatus();
}

}  // namespace millrace::server
