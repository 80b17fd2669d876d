#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/security/watched_file.h"

namespace millrace {

enum class Role : uint8_t { kUser, kAdmin };

struct ApiKeyEntry;  // see api_key_file.h

// The owner of a key.
struct Principal {
  std::string name;
  Role role = Role::kUser;
};

// The API keys of a file. Changes of the file take effect soon (replace it by a rename: a reader
// may see half of a write). A line is name:role:sha256hex(key), with the role "user" or "admin";
// '#' starts a comment line. Keys themselves are never stored. A file that everybody may write is
// rejected, and one that others may read causes a warning. A changed file that cannot be read or
// parsed is logged, and the previous keys stay in force.
//
// Thread-safe; one thread of its own reads the file now and then. Authenticate costs one SHA-256
// and a comparison with every key, each in constant time.
class ApiKeyStore {
 public:
  using Options = WatchedFile::Options;

  // Fails, naming the file and line, when the first load fails.
  static absl::StatusOr<std::unique_ptr<ApiKeyStore>> Open(std::filesystem::path file,
                                                           Options options);
  static absl::StatusOr<std::unique_ptr<ApiKeyStore>> Open(std::filesystem::path file);
  ~ApiKeyStore();
  ApiKeyStore(const ApiKeyStore&) = delete;
  ApiKeyStore& operator=(const ApiKeyStore&) = delete;

  std::optional<Principal> Authenticate(std::string_view key) const MILLRACE_EXCLUDES(keys_mu_);
  // Returns true if some key has an owner of this name.
  bool HasName(std::string_view name) const MILLRACE_EXCLUDES(keys_mu_);

  // Reads the file now; returns OK when its content is in force.
  absl::Status Reload() { return file_.Reload(); }

 private:
  using Keys = std::vector<ApiKeyEntry>;
  ApiKeyStore(std::filesystem::path file, Options options);
  absl::Status Check(const WatchedFile::Content& content);
  absl::Status Load(const std::string& text) MILLRACE_EXCLUDES(keys_mu_);
  std::shared_ptr<const Keys> keys() const MILLRACE_EXCLUDES(keys_mu_);

  bool warned_of_mode_ = false;  // used while the file is read

  mutable Mutex keys_mu_;
  std::shared_ptr<const Keys> keys_
      MILLRACE_GUARDED_BY(keys_mu_);  // shared: readers keep a set that a reload replaces

  WatchedFile file_;  // declared last: its thread uses all of the above
};

// Returns the key in an `authorization: Bearer <key>` value, or in one of another scheme; empty if
// there is none. The case of the scheme is ignored.
std::string_view BearerToken(std::string_view authorization, std::string_view scheme = "bearer");

// Returns a line of the file for this key. InvalidArgument for a name that a line cannot hold.
absl::StatusOr<std::string> ApiKeyLine(std::string_view name, Role role, std::string_view key);
// Adds such a line to a file, which is created with mode 0600 if it does not exist. Fails and
// leaves the file as it is when others than its owner and readers of its group may use it, or when
// it is not a regular file.
absl::Status AppendApiKeyLine(const std::filesystem::path& file, std::string_view line);
// Returns 32 random bytes in URL-safe letters.
absl::StatusOr<std::string> GenerateApiKey();

}  // namespace millrace
