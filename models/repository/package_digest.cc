#include "models/repository/package_digest.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "absl/strings/escaping.h"
#include "models/core/errors.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"

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

absl::Status AddFile(EVP_MD_CTX* digest, const std::filesystem::path& path, const std::string& name,
                     uint64_t max_bytes, std::vector<char>& part) {
  const absl::StatusOr<RegularFile> file = OpenRegularFile(path, max_bytes);
  if (!file.ok()) return FailedPrecondition(file.status().message());
  // Name and size come first, so that different packages never hash the same bytes.
  bool added = Add(digest, StrCat(name, absl::string_view("\0", 1), file->bytes, "\n"));
  while (added) {
    const ssize_t got = read(file->descriptor.get(), part.data(), part.size());
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return DataLoss(path.string(), ": cannot be read: ", std::strerror(errno));
    }
    added = Add(digest, {part.data(), static_cast<size_t>(got)});
  }
  return added ? absl::OkStatus() : Internal("OpenSSL computes no SHA-256");
}

}  // namespace

absl::StatusOr<std::string> DigestOf(const ModelRepository::Package& package) {
  const Digest digest(EVP_MD_CTX_new());
  if (digest == nullptr || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1) {
    return Internal("OpenSSL computes no SHA-256");
  }
  std::map<std::string, uint64_t> files = {{kModelConfigFile, kMaxConfigBytes}};
  for (const PackageFile& file : package.config.settings->files())
    files[file.name] = file.max_bytes;
  std::vector<char> part(kPartBytes);
  for (const auto& [name, max_bytes] : files) {
    MILLRACE_RETURN_IF_ERROR(AddFile(digest.get(), package.folder / name, name, max_bytes, part));
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned int size = 0;
  if (EVP_DigestFinal_ex(digest.get(), bytes.data(), &size) != 1) {
    return Internal("OpenSSL computes no SHA-256");
  }
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), size});
}

}  // namespace millrace::models
