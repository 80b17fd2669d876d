#include "server/security/server_credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <chrono>

#include "server/logging/logging.h"

namespace millrace {
namespace {

// A refresh only reads three small files.
constexpr unsigned kRefreshSeconds = 1;

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeTlsServerCredentials(
    const TlsFiles& files) {
  if (absl::Status status = CheckTlsFiles(files, std::chrono::system_clock::now()); !status.ok())
    return status;
  using grpc::experimental::FileWatcherCertificateProvider;
  // It is shared because gRPC's interface requires it; the credentials keep it alive.
  const auto provider =
      files.client_ca.empty()
          ? std::make_shared<FileWatcherCertificateProvider>(
                files.private_key.string(), files.certificate.string(), kRefreshSeconds)
          : std::make_shared<FileWatcherCertificateProvider>(
                files.private_key.string(), files.certificate.string(), files.client_ca.string(),
                kRefreshSeconds);
  grpc::experimental::TlsServerCredentialsOptions options(provider);
  options.watch_identity_key_cert_pairs();
  if (files.client_ca.empty()) {
    options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  } else {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

void ReportTlsFiles(const TlsFiles& files) {
  const absl::Status status = CheckTlsFiles(files, std::chrono::system_clock::now());
  if (status.ok()) {
    logging::Info("certificates are in order: new connections get them within two seconds",
                  {{"certificate", files.certificate.string()}});
  } else {
    logging::Error("certificates are not in order", {{"reason", status.message()}});
  }
}

}  // namespace millrace
