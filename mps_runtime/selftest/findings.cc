#include "mps_runtime/selftest/findings.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace millrace::runtime {
namespace {

std::string Text(const char* format, double value) {
  std::array<char, 400> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

std::string FigureText(double value) {
  if (value == std::floor(value) || std::abs(value) >= 100) return Text("%.0f", value);
  return Text("%.2f", value);
}

void Findings::AddFigure(std::string_view name, double value) {
  MutexLock lock(mu_);
  contents_.figures.push_back({std::string(name), value});
}

void Findings::AddOutcome(OperatorOutcome outcome) {
  MutexLock lock(mu_);
  contents_.outcomes.push_back(std::move(outcome));
}

void Findings::Fail(std::string what) {
  MutexLock lock(mu_);
  contents_.failures.push_back(std::move(what));
}

void Findings::ExpectEqual(std::string_view what, std::string_view expected,
                           std::string_view actual) {
  if (expected != actual) FailCompared(what, "", expected, actual);
}

void Findings::ExpectAbove(std::string_view what, double limit, double actual) {
  // Written so that a NaN fails.
  if (!(actual > limit))
    FailCompared(what, "more than ", Text("%.3g", limit), Text("%.3g", actual));
}

void Findings::Progress(std::string_view step) {
  MutexLock lock(mu_);
  step_ = step;
  last_progress_ = Clock::Real().Now();
}

Findings::Contents Findings::contents() const {
  MutexLock lock(mu_);
  return contents_;
}

std::string Findings::step() const {
  MutexLock lock(mu_);
  return step_;
}

TimePoint Findings::last_progress() const {
  MutexLock lock(mu_);
  return last_progress_;
}

void Findings::FailCompared(std::string_view what, std::string_view relation,
                            std::string_view expected, std::string_view actual) {
  std::string text(what);
  text += ": expected ";
  text += relation;
  text += expected;
  text += ", got ";
  text += actual;
  Fail(std::move(text));
}

}  // namespace millrace::runtime
