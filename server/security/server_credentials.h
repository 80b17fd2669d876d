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

// Says in the log whether the files of running credentials are in order, as somebody wants to know
// who has just replaced them: gRPC reads them again by itself, and says nothing.
void ReportTlsFiles(const TlsFiles& files);

}  // namespace millrace
