#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "absl/status/statusor.h"

namespace millrace {

struct TlsFiles {
  std::filesystem::path certificate;  // PEM, the server's own first, then those of its issuers
  std::filesystem::path private_key;  // PEM, not encrypted
  std::filesystem::path client_ca;    // PEM; empty: clients need no certificate
};

// The texts of the files.
struct TlsContents {
  std::string certificate;
  std::string private_key;
  std::string client_ca;

  friend bool operator==(const TlsContents&, const TlsContents&) = default;
};

// Reads the files, and describes in one line what is wrong: unreadable, not PEM, expired or not yet
// valid, or a key that does not match. gRPC itself would only fail each handshake.
absl::StatusOr<TlsContents> ReadTlsFiles(const TlsFiles& files,
                                         std::chrono::system_clock::time_point now);

// Describes in one line what is wrong with the texts of a client's files, which may have come from
// pipes: client_ca holds the authorities that it trusts, and certificate may be empty.
absl::Status CheckClientTls(const TlsFiles& files, const TlsContents& contents);

// Returns what clients may miss in a chain of certificates that can be served, or an empty text.
std::string GapInChain(const TlsContents& contents);

}  // namespace millrace
