#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "mps_runtime/base/clock.h"

namespace millrace {

// The progress of a calibration, in cells of equal weight, some of them known from an earlier run.
// Not thread-safe.
class CalibrationProgress {
 public:
  // cells: the number planned, each of `repeats` runs. Cells that the search adds later do not
  // count.
  CalibrationProgress(size_t cells, int repeats, Clock& clock = Clock::Real())
      : cells_(cells), repeats_(repeats), clock_(clock), start_(clock.Now()) {}

  // Sets how many runs the current cell has had.
  void OnRun(int runs) { runs_ = runs; }
  void OnCell(bool planned, bool was_known);

  double Fraction() const;
  // At the pace so far; nullopt before there is one, and at the end.
  std::optional<std::chrono::seconds> Left() const;
  // "41 %, about 12 min left".
  std::string Text() const;
  // "[########............]".
  std::string Bar(size_t width) const;

 private:
  const size_t cells_;
  const int repeats_;
  Clock& clock_;
  const TimePoint start_;
  size_t done_ = 0;
  size_t known_ = 0;  // how many of these are known
  int runs_ = 0;
};

}  // namespace millrace
