#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/limits/key_account.h"
#include "server/limits/policy.h"
#include "server/security/watched_file.h"

namespace millrace::server {

// The accounts of all keys under a policy. Accounts are made when a key is first used and stay, so
// there are at most as many as names that the file of API keys has had. Thread-safe.
class KeyLimits {
 public:
  explicit KeyLimits(Policy policy, Clock& clock = Clock::Real());
  KeyLimits(const KeyLimits&) = delete;
  KeyLimits& operator=(const KeyLimits&) = delete;

  // Returns the account of the key of that name; "" for callers without a key.
  std::shared_ptr<KeyAccount> AccountOf(std::string_view key) MILLRACE_EXCLUDES(mu_);
  // Puts another policy in force, for requests that are yet to come.
  void SetPolicy(Policy policy) MILLRACE_EXCLUDES(mu_);
  // Returns what each key has used, in the order in which they were first used.
  std::vector<KeyUsage> Usage() const MILLRACE_EXCLUDES(mu_);

 private:
  Clock& clock_;

  mutable Mutex mu_;
  Policy policy_ MILLRACE_GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<KeyAccount>, std::less<>> accounts_
      MILLRACE_GUARDED_BY(mu_);
};

// The accounts under the policy of a file, which is read again when it changes, as WatchedFile
// says. A file with an error is logged, and the policy before stays in force.
class PolicyFile {
 public:
  // Returns true if the file of API keys has a key of that name. Null: keys are not asked for.
  using HasKey = std::function<bool(std::string_view name)>;

  // Fails, naming the file, the line and what is allowed, when the first load fails.
  static absl::StatusOr<std::unique_ptr<PolicyFile>> Open(std::filesystem::path file,
                                                          HasKey has_key,
                                                          WatchedFile::Options options);
  static absl::StatusOr<std::unique_ptr<PolicyFile>> Open(std::filesystem::path file,
                                                          HasKey has_key = nullptr);
  PolicyFile(const PolicyFile&) = delete;
  PolicyFile& operator=(const PolicyFile&) = delete;

  KeyLimits& limits() { return *limits_; }
  // Reads the file now; returns OK when its content is in force.
  absl::Status Reload() { return file_.Reload(); }

 private:
  PolicyFile(std::filesystem::path file, HasKey has_key, WatchedFile::Options options);
  absl::Status Load(const std::string& text);

  const HasKey has_key_;
  Clock& clock_;
  std::unique_ptr<KeyLimits> limits_;  // set by the first load that succeeds
  WatchedFile file_;                   // declared last: its thread uses all of the above
};

}  // namespace millrace::server
