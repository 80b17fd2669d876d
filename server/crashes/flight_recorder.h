#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/core/payload.h"
#include "mps_runtime/base/clock.h"

namespace millrace::server {

// The last steps of a process, as plain data: they lie in memory that a handler of signals, or
// another process, reads after a crash. Nothing in it is a word of a request.
struct FlightRecord {
  static constexpr size_t kLanes = 32;    // one for each worker
  static constexpr size_t kSteps = 4;     // each lane keeps so many, the last at steps - 1, modulo
  static constexpr size_t kRequests = 8;  // a step describes at most so many
  static constexpr size_t kDimensions = 4;

  struct Request {
    uint64_t id;     // 0: it has none
    uint64_t bytes;  // the size of its texts or tensors
    uint32_t dimensions;
    std::array<int64_t, kDimensions> shape;  // its first tensor's
  };
  struct Step {
    int64_t begin_ns;   // on the steady clock
    int64_t end_ns;     // 0: it runs
    uint32_t requests;  // all of them
    std::array<char, 64> model;
    std::array<Request, kRequests> described;
  };
  struct Lane {
    uint64_t steps;  // so many have begun
    std::array<Step, kSteps> kept;
  };

  std::array<Lane, kLanes> lanes;
};

// Writes the steps of a process into a record, which costs no lock and no system call but the
// clock's. Each lane is written by one thread at a time. Lanes beyond kLanes are not recorded.
class FlightRecorder {
 public:
  // The record must outlive it.
  explicit FlightRecorder(FlightRecord& record) : record_(record) {}

  // Begins a step, which has no requests yet.
  void Begin(size_t lane, std::string_view model, TimePoint now);
  void AddRequest(size_t lane, uint64_t id, const models::Input& input);
  void End(size_t lane, TimePoint now);

 private:
  FlightRecord& record_;
};

// Returns a time of the steady clock as records have it.
int64_t ToRecordTime(TimePoint time);

}  // namespace millrace::server
