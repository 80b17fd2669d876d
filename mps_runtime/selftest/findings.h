#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::runtime {

// A number that a test measured. The name ends with its unit unless it is a plain count.
struct Figure {
  std::string name;
  double value = 0;
};

// Returns the value for people, with two decimals where it is small and no whole number.
std::string FigureText(double value);

// The outcome of an operator on a number of threads in a process of its own.
struct OperatorOutcome {
  std::string op;
  int threads = 0;
  std::string outcome;  // as ToString(ChildOutcome) writes it
  std::string detail;   // as Describe(ChildResult) writes it
};

// The findings of a selftest while it runs: its figures and its failures. Thread-safe, so that a
// watchdog can report what a hanging test has found so far.
class Findings {
 public:
  struct Contents {
    std::vector<Figure> figures;
    std::vector<OperatorOutcome> outcomes;
    std::vector<std::string> failures;  // each says what was expected and what was found
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

  // Declares the step that the test performs now. A test that declares nothing for long is taken to
  // hang.
  void Progress(std::string_view step);

  Contents contents() const;
  std::string step() const;
  // Returns the time of the last Progress, or of the beginning.
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
