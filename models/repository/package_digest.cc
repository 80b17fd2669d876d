#include "models/repository/package_digest.h"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace millrace::models {
namespace {

constexpr size_t kPartBytes = size_t{1} << 20;

struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Digest = std::unique_ptr<EVP_MD_CTX, FreeDigest>;

bool Add(EVP_MD_CTX* digest, absl::string_view bytes) {
  return EVP_DigestUpdate(digest, bytes.data(), bytes.size()) == 1;
}

absl::Status AddFile(EVP_MD_CTX* digest, const std::filesystem::path& folder,
                     const std::string& name, std::vector<char>& part) {
  const std::filesystem::path path = folder / name;
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) {
    return absl::FailedPreconditionError(absl::StrCat(
        path.string(),
        ": cannot be read: ", error ? error.message() : std::string(std::strerror(errno))));
  }
  // Name and size first, so that no two packages give the same bytes.
  bool added = Add(digest, absl::StrCat(name, absl::string_view("\0", 1), size, "\n"));
  while (added && file) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    added = Add(digest, {part.data(), static_cast<size_t>(file.gcount())});
  }
  if (file.bad()) return absl::DataLossError(absl::StrCat(path.string(), ": cannot be read"));
  return added ? absl::OkStatus() : absl::InternalError("OpenSSL computes no SHA-256");
}

}  // namespace

absl::StatusOr<std::string> DigestOf(const ModelRepository::Package& package) {
  const Digest digest(EVP_MD_CTX_new());
  if (digest == nullptr || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1) {
    return absl::InternalError("OpenSSL computes no SHA-256");
  }
  std::vector<std::string> named = Files(package.config);
  std::set<std::string> files(named.begin(), named.end());
  files.insert(kModelConfigFile);
  std::vector<char> part(kPartBytes);
  for (const std::string& name : files) {
    absl::Status status = AddFile(digest.get(), package.folder, name, part);
    if (!status.ok()) return status;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned int size = 0;
  if (EVP_DigestFinal_ex(digest.get(), bytes.data(), &size) != 1) {
    return absl::InternalError("OpenSSL computes no SHA-256");
  }
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), size});
}

}  // namespace millrace::models
