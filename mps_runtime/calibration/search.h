#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mps_runtime/safety_profile.h"

namespace millrace::runtime {

// What is run on more and more threads.
struct CalibrationItem {
  std::string name;
  int64_t version = 0;      // models only; 0: an operator
  std::string sha256 = {};  // models only

  bool is_model() const { return version > 0; }
  friend bool operator==(const CalibrationItem&, const CalibrationItem&) = default;
};

// How one run ended. kInconclusive: somebody ended the child from outside, so that it says nothing.
// kStopped: the calibration itself is to end.
enum class RunOutcome : uint8_t { kOk, kWrong, kError, kCrash, kHang, kInconclusive, kStopped };

// Runs an item once on so many threads, in a way that the caller survives.
using Probe = std::function<RunOutcome(const CalibrationItem& item, int threads)>;

struct SearchOptions {
  std::vector<int> threads;  // ascending, the first is 1
  int repeats = 1;
};

// Numbers of threads to try by default: with `most` at the end.
std::vector<int> DefaultThreads(int most);

// Runs beyond the first number of threads that failed: they cannot raise what is safe, and are
// there for the picture, so few are enough.
inline constexpr int kRunsBeyondFailure = 3;

// One item's boundary. Tries each number of threads in turn, `repeats` times or to its first
// failure; between the last number that survived and the first that failed it halves the gap until
// none is left; numbers beyond get kRunsBeyondFailure. A run that is inconclusive is done once
// more, and then counts as a crash: what ends a process from outside cannot always be told from a
// driver or a kernel that does. One thread; cost: the probe's.
class BoundarySearch {
 public:
  struct Hooks {
    // A cell's counts from an earlier run, or null.
    std::function<const RunCounts*(const CalibrationItem&, int threads)> known;
    // After each run, and after each cell, also of a known one. May throw to end the search.
    std::function<void(const CalibrationItem&, const RunCounts& so_far)> on_run;
    std::function<void(const CalibrationItem&, const RunCounts& cell, bool was_known)> on_cell;
  };

  BoundarySearch(SearchOptions options, Probe probe, Hooks hooks);

  // Nullopt when it was stopped.
  std::optional<ProfileItem> Find(const CalibrationItem& item) const;

 private:
  std::optional<RunCounts> Cell(const CalibrationItem& item, int threads, int repeats) const;

  const SearchOptions options_;
  const Probe probe_;
  const Hooks hooks_;
};

}  // namespace millrace::runtime
