#pragma once

#include <grpc/grpc_security.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/version_info.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/security/tls_files.h"
#include "server/security/watched_file.h"

namespace millrace {

// TLS credentials from files; mutual TLS when client_ca is set. The files are read again when they
// change, so a renewed certificate needs no restart; open connections stay. What cannot be served,
// as a certificate without its key, is logged once, and what was read before stays in use: gRPC's
// own credentials of files would take it, and then fail each handshake. For one port of one server.
// Thread-safe.
class TlsServerCredentials final : public grpc::ServerCredentials {
 public:
  // Fails as ReadTlsFiles does.
  static absl::StatusOr<std::shared_ptr<TlsServerCredentials>> Open(
      const TlsFiles& files,
      WatchedFile::Options options = {.poll_interval = std::chrono::seconds(1)});
  ~TlsServerCredentials() override;

  // Reads the files at once, for an operator who has just replaced them, and logs whether they are
  // in use.
  void Reload();

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  TlsServerCredentials(const TlsFiles& files, WatchedFile::Options options);
  // Gives gRPC what new connections get, if it does not have it.
  static grpc_ssl_certificate_config_reload_status Fetch(
      void* self, grpc_ssl_server_certificate_config** config);
  absl::Status Load() MILLRACE_EXCLUDES(mu_);
#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 55  // later ones do it themselves
  int AddPortToServer(const std::string& address, grpc_server* server) override;

  grpc_server_credentials* const credentials_;
#endif
  const TlsFiles files_;
  Mutex mu_;
  std::optional<TlsContents> contents_ MILLRACE_GUARDED_BY(mu_);
  bool changed_ MILLRACE_GUARDED_BY(mu_) = false;  // gRPC does not have them yet
  WatchedFile file_;  // the certificate; declared last: its thread uses all of the above
};

}  // namespace millrace
