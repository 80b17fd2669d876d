#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mps_runtime/provenance.h"

namespace millrace::runtime {

// A profile's file cannot be used or written. The message names the file, the field, its value and
// what is allowed.
class SafetyProfileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The conditions that a measurement holds for: another device, system or libtorch may behave
// differently.
struct ProfileKey {
  std::string backend;  // "cpu", "cuda" or "mps"
  std::string device_name;
  std::string os;  // as uname tells: name, release, machine
  std::string os_release;
  std::string machine;
  std::string libtorch_version;
  std::string libtorch_git_revision;

  friend bool operator==(const ProfileKey&, const ProfileKey&) = default;
};

// Returns the key for this system, with the device and libtorch of the provenance.
ProfileKey KeyOf(const Provenance& provenance);
// Returns a description for people that can also be compared: "backend 'cpu', device_name ...".
std::string Describe(const ProfileKey& key);
// Returns the parts of the profile's key that differ from `here`, with both values; empty when it
// matches.
std::string Difference(const ProfileKey& profile, const ProfileKey& here);

// The outcomes of the runs of one item on a certain number of threads.
struct RunCounts {
  int threads = 1;
  int ok = 0;
  int wrong = 0;  // another output than on one thread
  int error = 0;  // an exception
  int crash = 0;
  int hang = 0;  // ended by the watchdog

  int total() const { return ok + wrong + error + crash + hang; }
  bool Survived(int repeats) const { return ok >= repeats && ok == total(); }

  friend bool operator==(const RunCounts&, const RunCounts&) = default;
};

// The outcomes as files name them.
inline constexpr std::pair<const char*, int RunCounts::*> kOutcomeFields[] = {
    {"ok", &RunCounts::ok},
    {"wrong", &RunCounts::wrong},
    {"error", &RunCounts::error},
    {"crash", &RunCounts::crash},
    {"hang", &RunCounts::hang}};

// An operator or a model that was measured.
struct ProfileItem {
  std::string name;
  int64_t version = 0;       // models only
  std::string sha256 = {};   // models only: 64 hexadecimal digits over its config and weights
  int safe_concurrency = 0;  // 0: it failed even alone
  std::vector<RunCounts> runs = {};  // by threads, ascending

  friend bool operator==(const ProfileItem&, const ProfileItem&) = default;
};

// Returns the largest number of threads that survived all repeats together with every smaller
// number that was tried; 0 when none did. The runs must be in ascending order.
int SafeConcurrencyOf(std::span<const RunCounts> runs, int repeats);

// The number of concurrent forwards that a machine survived, as measured by `millrace calibrate`. A
// value without libtorch and without locks. The file is JSON of some kilobytes and is read once at
// start.
struct SafetyProfile {
  static constexpr int kFormat = 1;
  static constexpr int kMaxRepeats = 10'000;

  ProfileKey key;
  int repeats = 1;  // 1..kMaxRepeats; runs that a count of threads had to survive
  std::vector<ProfileItem> operators;  // at least one
  std::vector<ProfileItem> models;

  friend bool operator==(const SafetyProfile&, const SafetyProfile&) = default;
};

// Reads and checks a profile: a value out of its range or type, an unknown field, or a cap above
// what the item's own runs show is an error. Throws SafetyProfileError. Never blocks, whatever the
// path leads to.
SafetyProfile ReadSafetyProfile(const std::filesystem::path& file);
SafetyProfile ParseSafetyProfile(std::string_view text, const std::string& file);

std::string ToJson(const SafetyProfile& profile);
// Writes the file atomically: even after a system crash it holds either the whole new contents or
// the old ones. Throws SafetyProfileError.
void WriteSafetyProfile(const SafetyProfile& profile, const std::filesystem::path& file);

}  // namespace millrace::runtime
