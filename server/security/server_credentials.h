#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "absl/status/statusor.h"
#include "server/security/tls_files.h"

namespace millrace {

// Makes TLS credentials from files; mutual TLS when client_ca is set. The files are read again when
// they change, so a renewed certificate needs no restart; open connections stay. Fails as
// CheckTlsFiles does.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsServerCredentials(
    const TlsFiles& files);

// Logs whether the files of the running credentials are valid, for an operator who has just
// replaced them: gRPC reads them again by itself and reports nothing.
void ReportTlsFiles(const TlsFiles& files);

}  // namespace millrace
