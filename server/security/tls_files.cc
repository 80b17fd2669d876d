#include "server/security/tls_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/errors.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

// A bundle of all certificate authorities of the web has a third of this size.
constexpr uint64_t kMaxPemBytes = uint64_t{1} << 20;

struct Deleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using BioPtr = std::unique_ptr<BIO, Deleter>;
using CertificatePtr = std::unique_ptr<X509, Deleter>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter>;

absl::Status Bad(const std::filesystem::path& file, std::string_view what) {
  return FailedPrecondition(file.string(), ": ", std::string(what));
}

absl::StatusOr<std::string> ReadPem(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return Bad(file, "is a folder, not a PEM file");
  absl::StatusOr<std::string> text = models::ReadRegularFile(file, kMaxPemBytes);
  if (!text.ok()) return FailedPrecondition(text.status().message());
  return text;
}

BioPtr Open(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// whole: set to false where something behind these certificates is none that can be read.
std::vector<CertificatePtr> ParseCertificates(const std::string& text, bool& whole) {
  const BioPtr bio = Open(text);
  std::vector<CertificatePtr> certificates;
  while (CertificatePtr certificate{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
    certificates.push_back(std::move(certificate));
  }
  whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();  // the loop ends with an error
  return certificates;
}

// Returns the certificates in the text of the file.
absl::StatusOr<std::vector<CertificatePtr>> CertificatesIn(const std::filesystem::path& file,
                                                           const std::string& text) {
  bool whole = true;
  std::vector<CertificatePtr> certificates = ParseCertificates(text, whole);
  if (certificates.empty()) return Bad(file, "holds no PEM certificate");
  // gRPC would serve those before it alone.
  if (!whole) {
    return Bad(file, StrCat("certificate ", certificates.size() + 1,
                            " of the file is cut off or malformed"));
  }
  return certificates;
}

// Without this, OpenSSL would ask for the passphrase of an encrypted key on the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

// Returns the error of a key in the text of its file that is none, or not that of the certificate.
absl::Status CheckKey(const TlsFiles& files, const std::string& text, const X509& leaf) {
  const KeyPtr key(PEM_read_bio_PrivateKey(Open(text).get(), nullptr, NoPassphrase, nullptr));
  const bool matches = key && X509_check_private_key(&leaf, key.get()) == 1;
  ERR_clear_error();
  if (!key) return Bad(files.private_key, "holds no PEM private key without a passphrase");
  if (matches) return absl::OkStatus();
  return Bad(files.private_key,
             StrCat("the key does not match the certificate ", files.certificate.string()));
}

// OpenSSL refuses certificates that its security level calls weak, which gRPC would tell only once
// no client can connect.
absl::Status CheckServable(const std::filesystem::path& file,
                           const std::vector<CertificatePtr>& chain) {
  const std::unique_ptr<SSL_CTX, Deleter> context(SSL_CTX_new(TLS_server_method()));
  bool good = context != nullptr && SSL_CTX_use_certificate(context.get(), chain[0].get()) == 1;
  for (size_t i = 1; good && i < chain.size(); ++i)
    good = SSL_CTX_add1_chain_cert(context.get(), chain[i].get()) == 1;
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  if (good) return absl::OkStatus();
  return Bad(file, StrCat("OpenSSL does not serve the certificate: ",
                          reason != nullptr ? reason : "it is not told why"));
}

std::string Text(const ASN1_TIME* time) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(bio.get(), time);
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(length));
}

absl::Status CheckValidity(const std::filesystem::path& file, const X509& certificate,
                           std::time_t now) {
  const ASN1_TIME* not_before = X509_get0_notBefore(&certificate);
  const ASN1_TIME* not_after = X509_get0_notAfter(&certificate);
  if (X509_cmp_time(not_after, &now) < 0)
    return Bad(file, StrCat("the certificate expired on ", Text(not_after)));
  if (X509_cmp_time(not_before, &now) > 0) {
    return Bad(file, StrCat("the certificate is not valid before ", Text(not_before)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TlsContents> ReadTlsFiles(const TlsFiles& files,
                                         std::chrono::system_clock::time_point now) {
  const std::time_t time = std::chrono::system_clock::to_time_t(now);
  TlsContents contents;
  MILLRACE_ASSIGN_OR_RETURN(contents.certificate, ReadPem(files.certificate));
  MILLRACE_ASSIGN_OR_RETURN(const auto chain,
                            CertificatesIn(files.certificate, contents.certificate));
  const X509& leaf = *chain.front();
  MILLRACE_RETURN_IF_ERROR(CheckValidity(files.certificate, leaf, time));
  MILLRACE_RETURN_IF_ERROR(CheckServable(files.certificate, chain));

  MILLRACE_ASSIGN_OR_RETURN(contents.private_key, ReadPem(files.private_key));
  MILLRACE_RETURN_IF_ERROR(CheckKey(files, contents.private_key, leaf));

  if (files.client_ca.empty()) return contents;
  MILLRACE_ASSIGN_OR_RETURN(contents.client_ca, ReadPem(files.client_ca));
  MILLRACE_ASSIGN_OR_RETURN(const auto authorities,
                            CertificatesIn(files.client_ca, contents.client_ca));
  // A bundle may keep an old authority beside its successor, so one valid authority is enough.
  absl::Status status;
  for (const CertificatePtr& authority : authorities) {
    status = CheckValidity(files.client_ca, *authority, time);
    if (status.ok()) return contents;
  }
  return status;
}

absl::Status CheckClientTls(const TlsFiles& files, const TlsContents& contents) {
  MILLRACE_RETURN_IF_ERROR(CertificatesIn(files.client_ca, contents.client_ca).status());
  if (files.certificate.empty()) return absl::OkStatus();
  MILLRACE_ASSIGN_OR_RETURN(const auto chain,
                            CertificatesIn(files.certificate, contents.certificate));
  return CheckKey(files, contents.private_key, *chain.front());
}

std::string GapInChain(const TlsContents& contents) {
  bool whole = true;
  const std::vector<CertificatePtr> chain = ParseCertificates(contents.certificate, whole);
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    if (X509_check_issued(chain[i + 1].get(), chain[i].get()) != X509_V_OK) {
      return StrCat("certificate ", i + 2, " of the file has not issued certificate ", i + 1,
                    ", so clients may not trust it");
    }
  }
  return "";
}

}  // namespace millrace
