#pragma once

#include <cstdint>
#include <ostream>

#include "millrace/v1/admin.pb.h"

namespace millrace {

// Writes the steps of workers in Chrome's trace event format, which chrome://tracing and Perfetto
// show: a thread for each worker, an event for each step. What was added is written at once, so a
// long recording takes no memory.
class TraceFile {
 public:
  // begin_ns: the time that the viewer shows as 0, on the clock of the steps. The stream must
  // outlive it.
  TraceFile(std::ostream& out, int workers, int64_t begin_ns);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void Add(const v1::GetTimelineResponse& response);
  // Ends the file; nothing may be added behind it.
  void Close();

  uint64_t steps() const { return steps_; }
  uint64_t lost() const { return lost_; }

 private:
  std::ostream& out_;
  const int64_t begin_ns_;
  uint64_t steps_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace millrace
