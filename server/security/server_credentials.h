#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "grpcpp/security/server_credentials.h"
#include "server/security/tls_files.h"

namespace millrace {

// TLS credentials from files, mutual TLS when client_ca is set. The files are read again when they
// change, so that a renewed certificate needs no restart; connections that are open stay. Fails as
// CheckTlsFiles does.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsServerCredentials(
    const TlsFiles& files);

}  // namespace millrace
