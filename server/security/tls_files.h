#pragma once

#include <chrono>
#include <filesystem>

#include "absl/status/status.h"

namespace millrace {

struct TlsFiles {
  std::filesystem::path certificate;  // PEM, the server's own first, then those of its issuers
  std::filesystem::path private_key;  // PEM, not encrypted
  std::filesystem::path client_ca;    // PEM; empty: clients need no certificate
};

// Reads the files as gRPC will, and describes in one line what is wrong: unreadable, not PEM,
// expired or not yet valid, or a key that does not match. gRPC itself would only fail each
// handshake.
absl::Status CheckTlsFiles(const TlsFiles& files, std::chrono::system_clock::time_point now);

}  // namespace millrace
