#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "mps_runtime/base/file.h"
#include "mps_runtime/calibration/search.h"
#include "mps_runtime/safety_profile.h"

namespace millrace::runtime {

// The finished cells of a calibration that may be interrupted: a file of JSON lines, each
// synchronised to disk before the next run begins. The first line describes the measurement; if it
// differs, a new file begins. Everything after a torn or broken line is dropped. One calibration
// holds the file at a time. Errors are SafetyProfileError.
class CalibrationJournal {
 public:
  struct Conditions {
    ProfileKey key;
    int repeats = 1;
    std::chrono::milliseconds watchdog{0};
  };

  CalibrationJournal(std::filesystem::path file, const Conditions& conditions);
  CalibrationJournal(const CalibrationJournal&) = delete;
  CalibrationJournal& operator=(const CalibrationJournal&) = delete;

  // The counts of an earlier run, or null. Valid until the next Append.
  const RunCounts* Find(const CalibrationItem& item, int threads) const;
  void Append(const CalibrationItem& item, const RunCounts& cell);
  // Removes the file, because the calibration is complete.
  void Remove();

  const std::filesystem::path& file() const { return file_; }
  // Returns the number of cells that an earlier run finished.
  size_t resumed() const { return resumed_; }
  // The reason in words why an earlier file was not continued; empty when there was none or it was
  // continued.
  const std::string& dropped() const { return dropped_; }

 private:
  struct Entry {
    CalibrationItem item;
    RunCounts cell;
  };

  void Load(const std::string& header);
  void Write(const std::string& line);

  const std::filesystem::path file_;
  FileDescriptor fd_;
  std::vector<Entry> entries_;
  size_t resumed_ = 0;
  std::string dropped_;
};

}  // namespace millrace::runtime
