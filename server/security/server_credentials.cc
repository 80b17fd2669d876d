#include "server/security/server_credentials.h"

#include <grpc/grpc.h>

#include <chrono>
#include <utility>

#include "models/core/errors.h"
#include "server/logging/logging.h"

namespace millrace {

#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 55
#define MILLRACE_CREDENTIALS credentials_
#else
#define MILLRACE_CREDENTIALS grpc::ServerCredentials
#endif

TlsServerCredentials::TlsServerCredentials(const TlsFiles& files, WatchedFile::Options options)
    : MILLRACE_CREDENTIALS(grpc_ssl_server_credentials_create_with_options(
          grpc_ssl_server_credentials_create_options_using_config_fetcher(
              files.client_ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                      : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY,
              &Fetch, this))),
      files_(files),
      file_(files.certificate,
            {.not_loaded = "certificates are not in order; those before, if any, stay in use",
             .check = [this](const WatchedFile::Content&) { return Load(); },
             .load = [](const std::string&) { return absl::OkStatus(); }},
            options) {}
#undef MILLRACE_CREDENTIALS

#if GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR < 55
TlsServerCredentials::~TlsServerCredentials() { grpc_server_credentials_release(credentials_); }

int TlsServerCredentials::AddPortToServer(const std::string& address, grpc_server* server) {
  return grpc_server_add_http2_port(server, address.c_str(), credentials_);
}
#else
TlsServerCredentials::~TlsServerCredentials() = default;
#endif

absl::StatusOr<std::shared_ptr<TlsServerCredentials>> TlsServerCredentials::Open(
    const TlsFiles& files, WatchedFile::Options options) {
  MILLRACE_ASSIGN_OR_RETURN(const auto contents,
                            ReadTlsFiles(files, std::chrono::system_clock::now()));
  std::shared_ptr<TlsServerCredentials> credentials(new TlsServerCredentials(files, options));
  MILLRACE_RETURN_IF_ERROR(credentials->file_.Reload());
  credentials->file_.Watch();
  return credentials;
}

void TlsServerCredentials::Reload() {
  if (!file_.Reload().ok()) return;  // the error is logged
  logging::Info("certificates are in order: new connections get them",
                {{"certificate", files_.certificate.string()}});
}

absl::Status TlsServerCredentials::Load() {
  MILLRACE_ASSIGN_OR_RETURN(auto contents, ReadTlsFiles(files_, std::chrono::system_clock::now()));
  MutexLock lock(mu_);
  if (contents_ == contents) return absl::OkStatus();
  if (const std::string gap = GapInChain(contents); !gap.empty())
    logging::Warning("chain of certificates has a gap",
                     {{"certificate", files_.certificate.string()}, {"reason", gap}});
  if (contents_) {
    logging::Info("certificates have changed: new connections get them",
                  {{"certificate", files_.certificate.string()}});
  }
  contents_ = std::move(contents);
  changed_ = true;
  return absl::OkStatus();
}

grpc_ssl_certificate_config_reload_status TlsServerCredentials::Fetch(
    void* self, grpc_ssl_server_certificate_config** config) {
  auto& credentials = *static_cast<TlsServerCredentials*>(self);
  MutexLock lock(credentials.mu_);
  if (!std::exchange(credentials.changed_, false))
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const TlsContents& contents = *credentials.contents_;
  const grpc_ssl_pem_key_cert_pair pair = {contents.private_key.c_str(),
                                           contents.certificate.c_str()};
  // gRPC insists on authorities also where clients are asked for no certificate.
  const std::string& authorities =
      contents.client_ca.empty() ? contents.certificate : contents.client_ca;
  *config = grpc_ssl_server_certificate_config_create(authorities.c_str(), &pair, 1);
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace millrace
