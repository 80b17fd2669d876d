#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mps_runtime/safety_profile.h"

namespace millrace::runtime {

// An item that is run on more and more threads.
struct CalibrationItem {
  std::string name;
  int64_t version = 0;      // for models only; 0: an operator
  std::string sha256 = {};  // for models only

  bool is_model() const { return version > 0; }
  friend bool operator==(const CalibrationItem&, const CalibrationItem&) = default;
};

// The outcome of one run. kInconclusive: the child was ended from outside, so the run shows
// nothing. kStopped: the calibration itself must end.
enum class RunOutcome : uint8_t { kOk, kWrong, kError, kCrash, kHang, kInconclusive, kStopped };

// Runs an item once on a number of threads, in a way that the caller survives.
using Probe = std::function<RunOutcome(const CalibrationItem& item, int threads)>;

struct SearchOptions {
  std::vector<int> threads;  // ascending, the first is 1
  int repeats = 1;
};

// Returns the default numbers of threads to try, which end with `most`.
std::vector<int> DefaultThreads(int most);

// The runs for each number of threads beyond the first that failed. They cannot raise what is safe
// and only complete the picture, so few are enough.
inline constexpr int kRunsBeyondFailure = 3;

// Finds the boundary of one item. It tries each number of threads in turn, `repeats` times or to
// its first failure. Between the last number that survived and the first that failed it halves the
// gap until none is left. Numbers beyond that get kRunsBeyondFailure runs. An inconclusive run is
// repeated once and then counts as a crash, because an end from outside cannot always be
// distinguished from one by a driver or a kernel. Runs on one thread; the cost is the probe's.
class BoundarySearch {
 public:
  struct Hooks {
    // The counts of a cell from an earlier run, or null.
    std::function<const RunCounts*(const CalibrationItem&, int threads)> known;
    // Called after each run and after each cell, also for a known one. May throw to end the search.
    std::function<void(const CalibrationItem&, const RunCounts& so_far)> on_run;
    std::function<void(const CalibrationItem&, const RunCounts& cell, bool was_known)> on_cell;
  };

  BoundarySearch(SearchOptions options, Probe probe, Hooks hooks);

  // Returns nullopt when it was stopped.
  std::optional<ProfileItem> Find(const CalibrationItem& item) const;

 private:
  std::optional<RunCounts> Cell(const CalibrationItem& item, int threads, int repeats) const;

  const SearchOptions options_;
  const Probe probe_;
  const Hooks hooks_;
};

}  // namespace millrace::runtime
