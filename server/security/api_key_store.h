#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace {

enum class Role : uint8_t { kUser, kAdmin };

struct ApiKeyEntry;  // of api_key_file.h

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
  struct Options {
    std::chrono::milliseconds poll_interval = std::chrono::seconds(2);  // 0: no thread, only Reload
    Clock* clock = &Clock::Real();
  };

  // Fails, naming the file and line, when the first load fails.
  static absl::StatusOr<std::unique_ptr<ApiKeyStore>> Open(std::filesystem::path file,
                                                           Options options);
  static absl::StatusOr<std::unique_ptr<ApiKeyStore>> Open(std::filesystem::path file);
  ~ApiKeyStore();
  ApiKeyStore(const ApiKeyStore&) = delete;
  ApiKeyStore& operator=(const ApiKeyStore&) = delete;

  std::optional<Principal> Authenticate(std::string_view key) const MILLRACE_EXCLUDES(keys_mu_);

  // Reads the file now; returns OK when its content is in force.
  absl::Status Reload() MILLRACE_EXCLUDES(reload_mu_, keys_mu_);

 private:
  using Keys = std::vector<ApiKeyEntry>;
  ApiKeyStore(std::filesystem::path file, Options options);
  absl::Status Load() MILLRACE_REQUIRES(reload_mu_) MILLRACE_EXCLUDES(keys_mu_);
  void PollLoop() MILLRACE_EXCLUDES(poll_mu_);

  const std::filesystem::path file_;
  const Options options_;

  Mutex reload_mu_;
  // The content that was read last and its outcome, so that the same content is parsed once.
  std::optional<std::string> content_ MILLRACE_GUARDED_BY(reload_mu_);
  absl::Status content_status_ MILLRACE_GUARDED_BY(reload_mu_);
  // The outcome of the last attempt, so that the same error is logged once.
  absl::Status outcome_ MILLRACE_GUARDED_BY(reload_mu_);
  bool warned_of_mode_ MILLRACE_GUARDED_BY(reload_mu_) = false;

  mutable Mutex keys_mu_;
  std::shared_ptr<const Keys> keys_
      MILLRACE_GUARDED_BY(keys_mu_);  // shared: readers keep a set that a reload replaces

  Mutex poll_mu_;
  CondVar poll_cv_;
  bool stopping_ MILLRACE_GUARDED_BY(poll_mu_) = false;
  std::thread poller_;  // declared last: it uses all of the above
};

// Returns the key in an `authorization: Bearer <key>` value, or empty. The case of the scheme is
// ignored.
std::string_view BearerToken(std::string_view authorization);

// Returns a line of the file for this key. InvalidArgument for a name that a line cannot hold.
absl::StatusOr<std::string> ApiKeyLine(std::string_view name, Role role, std::string_view key);
// Adds such a line to a file, which is created with mode 0600 if it does not exist. Fails and
// leaves the file as it is when others than its owner and readers of its group may use it, or when
// it is not a regular file.
absl::Status AppendApiKeyLine(const std::filesystem::path& file, std::string_view line);
// Returns 32 random bytes in URL-safe letters.
absl::StatusOr<std::string> GenerateApiKey();

}  // namespace millrace
