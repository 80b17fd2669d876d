#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "mps_runtime/base/mutex.h"

namespace millrace::testing {

// The failures of a program at its failpoints. Thread-safe.
class Failpoints {
 public:
  // Reads "POINT=FAULT:PROBABILITY ...", such as "executor.forward=segv:0.01"; the probability is 1
  // if it is left out, and a point may have several faults. Faults are segv, abort, hang, throw,
  // oom (std::bad_alloc), sticky (an error of the device that each later hit of the point has too)
  // and garbage, bytes that are no message. Throws std::invalid_argument that names what it does
  // not know.
  explicit Failpoints(const std::string& text);

  // Does what is set for the point. socket: gets the garbage.
  void Hit(std::string_view name, int socket) MILLRACE_EXCLUDES(mu_);

 private:
  enum class Fault : uint8_t { kSegv, kAbort, kHang, kThrow, kOutOfMemory, kSticky, kGarbage };
  struct Point {
    std::string name;
    Fault fault;
    double probability = 1;
  };

  static Fault FaultOf(std::string_view name);
  static void Do(Fault fault, std::string_view name, int socket);
  // Draws whether the point fails now.
  bool Draw(Point& point) MILLRACE_EXCLUDES(mu_);

  Mutex mu_;
  std::mt19937 random_ MILLRACE_GUARDED_BY(mu_){std::random_device()()};
  std::vector<Point> points_;  // the probabilities are guarded by mu_
};

}  // namespace millrace::testing
