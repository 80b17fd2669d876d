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
// synchronised before the next run begins. The first line says what was measured how; one that
// differs begins a new file. What follows a line that is torn or broken is dropped. One calibration
// holds it at a time. Errors are SafetyProfileError.
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

  // Of an earlier run, or null. Holds until the next Append.
  const RunCounts* Find(const CalibrationItem& item, int threads) const;
  void Append(const CalibrationItem& item, const RunCounts& cell);
  // The calibration is complete: the file goes.
  void Remove();

  const std::filesystem::path& file() const { return file_; }
  // Cells of an earlier run.
  size_t resumed() const { return resumed_; }
  // Why an earlier file was not taken up, for people; empty: there was none, or it was.
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
