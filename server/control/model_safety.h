#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/repository/model_repository.h"
#include "mps_runtime/runtime.h"
#include "mps_runtime/safety_profile.h"

namespace millrace::server {

// Applies the safety profile to the models of a repository: the number of forwards that may run at
// once at start, and whether a model that is loaded later may join them. A profile that is broken,
// or belongs to another device, system, libtorch or mode, is ignored, and the backend's policy
// applies. Main thread only; the profile is read once.
class ModelSafety {
 public:
  struct Options {
    std::filesystem::path file;          // the profile's file
    bool file_was_named = false;         // true: warn if the file is missing
    std::string models;                  // the sources of the repository
    std::vector<std::string> operators;  // operators that models of this build run
  };
  // Gets a line for each condition that the operator may not expect.
  using Warn = std::function<void(const std::string&)>;

  ModelSafety(Options options, Warn warn) : options_(std::move(options)), warn_(std::move(warn)) {}

  // Returns the value for RuntimeOptions::measured_concurrency: the least over the operators and
  // the models of the repository, where the policy counts for one that the profile does not cover.
  // Returns nothing when no profile applies here. Reads the models' files to identify them.
  std::optional<int> Measured(const runtime::DeviceFacts& facts);

  // Fails with FAILED_PRECONDITION when the model is not known to survive this many forwards at
  // once. Call it after Measured. Reads the model's files when a profile applies.
  absl::Status Check(const models::ModelRepository::Package& package, int permits);

  const std::filesystem::path& file() const { return options_.file; }
  // Returns true if a profile applies here. Valid after Measured.
  bool holds() const { return profile_.has_value(); }
  // The item that causes the least value, such as "model voice"; empty when nothing is below what
  // the device can use. Valid after Measured.
  const std::string& limited_by() const { return limited_by_; }

 private:
  struct Cap {
    int forwards = 1;
    std::string why;  // empty: the number is the profile's own
  };

  std::optional<runtime::SafetyProfile> Read() const;
  Cap CapOf(const models::ModelRepository::Package& package, const std::string& digest) const;

  const Options options_;
  const Warn warn_;
  std::optional<runtime::SafetyProfile> profile_;
  int policy_ = 1;
  std::string limited_by_;
  // The digests that Measured computed, by folder, for the loads that follow at once. Each is used
  // once, since files may change later.
  std::map<std::string, std::string> digests_;
};

}  // namespace millrace::server
