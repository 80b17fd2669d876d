#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "mps_runtime/base/clock.h"
#include "server/scheduling/job.h"

namespace millrace::server {

// The jobs that wait for one model, in three lines: those that have not begun, those of them that
// are much shorter than the others, and those that come back for another step. Each line is in the
// order in which its jobs came. It knows no order among the lines, which is ModelQueue's. Not
// thread-safe.
class JobLines {
 public:
  using Line = std::deque<std::unique_ptr<Job>>;
  // A job that waits.
  struct Place {
    Line* line;
    size_t index;
  };
  // Service after which a request is a long one.
  static constexpr Duration kLong = std::chrono::seconds(2);

  Line fresh;    // jobs that have not begun
  Line quick;    // jobs that have not begun, much shorter than the others when they came
  Line started;  // jobs that come back for another step

  // Return all lines.
  std::array<Line*, 3> all() { return {&fresh, &quick, &started}; }
  std::array<const Line*, 3> all() const { return {&fresh, &quick, &started}; }
  size_t size() const { return fresh.size() + quick.size() + started.size(); }
  bool empty() const { return size() == 0; }
  bool HasBegun(const Line& line) const { return &line == &started; }
  // Returns how many of the started jobs had less service than kLong.
  size_t short_started() const { return short_started_; }

  void Push(Line& line, std::unique_ptr<Job> job);
  std::unique_ptr<Job> Take(const Place& place);
  // Takes a job, and leaves a null in its place until CloseGaps: for taking several by their index.
  std::unique_ptr<Job> TakeOut(const Place& place);
  void CloseGaps();

  // Returns where the job of this reply is, if it waits.
  std::optional<Place> Find(const Reply& reply);
  // Returns for how long the job that came first has waited; zero if there is none.
  Duration OldestWait(TimePoint now) const;

 private:
  size_t short_started_ = 0;
};

}  // namespace millrace::server
