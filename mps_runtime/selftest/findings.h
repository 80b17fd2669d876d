#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::runtime {

// A number that a test measured; the name ends with its unit unless it is a plain count.
struct Figure {
  std::string name;
  double value = 0;
};

// What became of an operator on so many threads in a process of its own.
struct OperatorOutcome {
  std::string op;
  int threads = 0;
  std::string outcome;  // as of ToString(ChildOutcome)
  std::string detail;   // as of Describe(ChildResult)
};

// What a test of the selftest finds while it runs: its figures, and what was not as it must be.
// Thread-safe, so that a watchdog can tell what a test that hangs has found so far.
class Findings {
 public:
  struct Contents {
    std::vector<Figure> figures;
    std::vector<OperatorOutcome> outcomes;
    std::vector<std::string> failures;  // each with what was expected and what came
  };

  void AddFigure(std::string_view name, double value);
  void AddOutcome(OperatorOutcome outcome);
  void Fail(std::string what);

  template <std::integral Expected, std::integral Actual>
  void ExpectEqual(std::string_view what, Expected expected, Actual actual) {
    if (std::cmp_not_equal(expected, actual)) {
      FailCompared(what, "", std::to_string(expected), std::to_string(actual));
    }
  }
  template <std::integral Limit, std::integral Actual>
  void ExpectAtMost(std::string_view what, Limit limit, Actual actual) {
    if (std::cmp_greater(actual, limit)) {
      FailCompared(what, "at most ", std::to_string(limit), std::to_string(actual));
    }
  }
  void ExpectEqual(std::string_view what, std::string_view expected, std::string_view actual);
  void ExpectAbove(std::string_view what, double limit, double actual);

  // What the test does now. A test that says nothing for long is taken to hang.
  void Progress(std::string_view step);

  Contents contents() const;
  std::string step() const;
  // Of the last Progress, or the beginning.
  TimePoint last_progress() const;

 private:
  void FailCompared(std::string_view what, std::string_view relation, std::string_view expected,
                    std::string_view actual);

  mutable Mutex mu_;
  Contents contents_ MILLRACE_GUARDED_BY(mu_);
  std::string step_ MILLRACE_GUARDED_BY(mu_);
  TimePoint last_progress_ MILLRACE_GUARDED_BY(mu_) = Clock::Real().Now();
};

}  // namespace millrace::runtime
