#include "server/security/api_key_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/file.h"

namespace millrace {
namespace {

constexpr size_t kMaxNameLength = 128;

bool IsName(absl::string_view name) {
  return !name.empty() && name.size() <= kMaxNameLength &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-' || c == '@';
         });
}

constexpr char kNameRule[] = "allowed is a name of 1..128 letters, digits, '.', '_', '-' and '@'";

}  // namespace

KeyDigest DigestOf(std::string_view key) {
  // OpenSSL's SHA256() looks the algorithm up by name in each call, which takes longer than the
  // digest of a short key.
  static const EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  KeyDigest digest;
  if (EVP_Digest(key.data(), key.size(), digest.data(), nullptr, kSha256, nullptr) != 1)
    throw std::bad_alloc();
  return digest;
}

absl::StatusOr<std::vector<ApiKeyEntry>> ParseApiKeys(std::string_view text,
                                                      const std::string& file) {
  std::vector<ApiKeyEntry> entries;
  std::map<KeyDigest, std::pair<Principal, int>> lines;         // by the hashes that they have
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  int number = 0;
  for (absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    const auto error = [&](absl::string_view what) {
      return InvalidArgument(file, ":", number, ": ", what);
    };
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ':');
    if (parts.size() != 3) return error("not name:role:sha256, three parts between colons");
    if (!IsName(parts[0])) return error(StrCat("bad name, ", kNameRule));
    if (parts[1] != "user" && parts[1] != "admin")
      return error("bad role, allowed are user and admin");
    ApiKeyEntry entry;
    entry.principal = {std::string(parts[0]), parts[1] == "admin" ? Role::kAdmin : Role::kUser};
    const bool hex = parts[2].size() == 2 * entry.digest.size() &&
                     std::all_of(parts[2].begin(), parts[2].end(),
                                 [](unsigned char c) { return absl::ascii_isxdigit(c); });
    if (!hex) return error("bad hash, allowed are the 64 hexadecimal digits of the key's SHA-256");
    const std::string bytes = absl::HexStringToBytes(parts[2]);
    std::copy(bytes.begin(), bytes.end(), entry.digest.begin());
    const auto& [whose, line_before] =
        lines.try_emplace(entry.digest, entry.principal, number).first->second;
    if (whose.name != entry.principal.name || whose.role != entry.principal.role) {
      return error(StrCat("bad hash, it is that of line ", line_before,
                          ", and a key has one name and one role"));
    }
    entries.push_back(std::move(entry));
  }
  if (entries.empty())
    return InvalidArgument(file, ": holds no key, so that no request could pass");
  return entries;
}

absl::StatusOr<std::string> ApiKeyLine(std::string_view name, Role role, std::string_view key) {
  if (!IsName({name.data(), name.size()}))
    return InvalidArgument("name: '", name, "' is not allowed, ", kNameRule);
  if (key.empty()) return InvalidArgument("key: is empty");
  const KeyDigest digest = DigestOf(key);
  const absl::string_view bytes(reinterpret_cast<const char*>(digest.data()), digest.size());
  return StrCat(std::string(name),
                role == Role::kAdmin ? ":admin:" : ":user:", absl::BytesToHexString(bytes));
}

std::string OctalMode(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof(text), "%04o", static_cast<unsigned>(mode) & 07777U);
  return text;
}

absl::Status AppendApiKeyLine(const std::filesystem::path& file, std::string_view line) {
  const auto error = [&file](absl::string_view what) {
    return FailedPrecondition(file.string(), ": ", what);
  };
  const auto system_error = [&error] {
    return error(StrCat("cannot be written: ", std::strerror(errno)));
  };
  // The open does not block, because the path may name a pipe.
  const FileDescriptor owned(open(file.c_str(),
                                  O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                                  S_IRUSR | S_IWUSR));
  const int descriptor = owned.get();
  struct stat state {};
  if (descriptor < 0 || fstat(descriptor, &state) != 0) return system_error();
  if (!S_ISREG(state.st_mode)) return error("is not a file");
  if ((state.st_mode & 07777 & ~kKeyFileMode) != 0) {
    return error(StrCat("is open to others (mode ", OctalMode(state.st_mode),
                        "), allowed are 0600 and 0640; `chmod 600` closes it"));
  }
  // The line is written in one piece, so that a daemon that reads meanwhile sees all of it or none.
  std::string added;
  char last = '\n';
  if (state.st_size > 0 && pread(descriptor, &last, 1, state.st_size - 1) != 1)
    return system_error();
  if (last != '\n') added += '\n';
  added.append(line).append("\n");
  const ssize_t written = write(descriptor, added.data(), added.size());
  if (written < 0) return system_error();
  if (static_cast<size_t>(written) != added.size() || fsync(descriptor) != 0)
    return error("the line could not be written whole");
  return absl::OkStatus();
}

absl::StatusOr<std::string> GenerateApiKey() {
  unsigned char bytes[32];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return Internal("no random bytes from OpenSSL");
  return absl::WebSafeBase64Escape(
      absl::string_view(reinterpret_cast<const char*>(bytes), sizeof(bytes)));
}

std::string_view BearerToken(std::string_view authorization, std::string_view scheme) {
  if (!absl::StartsWithIgnoreCase(View(authorization), View(scheme))) return {};
  std::string_view token = authorization.substr(scheme.size());
  if (!token.starts_with(' ')) return {};
  while (!token.empty() && token.front() == ' ') token.remove_prefix(1);
  return token;
}

}  // namespace millrace
