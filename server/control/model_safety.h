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

// What the safety profile says of the models of a repository: how many forwards at once at start,
// and whether a model that is loaded later may join them. A profile that is broken, or of another
// device, system, libtorch or mode, counts for nothing: then the backend's policy does. Main thread
// only; the profile is read once.
class ModelSafety {
 public:
  struct Options {
    std::filesystem::path file;          // of the profile
    bool file_was_named = false;         // then its absence is worth a word
    std::filesystem::path models;        // the repository
    std::vector<std::string> operators;  // that models of this build run
  };
  // Gets a line for people for each thing that is not as they may believe.
  using Warn = std::function<void(const std::string&)>;

  ModelSafety(Options options, Warn warn) : options_(std::move(options)), warn_(std::move(warn)) {}

  // For RuntimeOptions::measured_concurrency: the least over the operators and the models of the
  // repository; one that the profile does not cover counts with the policy. Nothing when no profile
  // holds here. Reads the models' files to know them.
  std::optional<int> Measured(const runtime::DeviceFacts& facts);

  // FAILED_PRECONDITION when the model is not known to survive so many forwards at once. Call after
  // Measured. Reads the model's files, where a profile holds.
  absl::Status Check(const models::ModelRepository::Package& package, int permits);

  const std::filesystem::path& file() const { return options_.file; }
  // Whether a profile holds here; after Measured.
  bool holds() const { return profile_.has_value(); }
  // What the least is due to, such as "model voice"; empty: nothing is below what the device can
  // use. After Measured.
  const std::string& limited_by() const { return limited_by_; }

 private:
  struct Cap {
    int forwards = 1;
    std::string why;  // empty: the profile's own number
  };

  std::optional<runtime::SafetyProfile> Read() const;
  Cap CapOf(const models::ModelRepository::Package& package, const std::string& digest) const;

  const Options options_;
  const Warn warn_;
  std::optional<runtime::SafetyProfile> profile_;
  int policy_ = 1;
  std::string limited_by_;
  // Of Measured, by folder, for the loading that follows at once: each is used once, since files
  // may change later.
  std::map<std::string, std::string> digests_;
};

}  // namespace millrace::server
