#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>

namespace millrace {

// Returns the CPU time of the calling thread: neighbours and sanitizers slow it, all sizes alike.
inline double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Expects that `task`, called with a text of `bytes` bytes made of `piece`, takes a time that grows
// no faster than the text: at most ten times that of a quarter of it, where a quadratic one takes
// sixteen times.
template <typename Task>
void ExpectLinearTime(std::string_view piece, size_t bytes, const Task& task) {
  // In seconds. Caches make growth uneven here, and no quadratic task is done with 100,000 bytes.
  constexpr double kTooShortToJudge = 20e-3;
  constexpr double kGrowth = 10;
  constexpr int kTries = 12;
  const auto best = [&](size_t size, double so_far) {
    std::string text;
    while (text.size() < size) text += piece;
    const double begin = ThreadCpuSeconds();
    task(text);
    return std::min(so_far, ThreadCpuSeconds() - begin);
  };
  double quarter = std::numeric_limits<double>::infinity();
  double whole = quarter;
  for (int i = 0; i < kTries; ++i) {
    quarter = best(bytes / 4, quarter);
    whole = best(bytes, whole);
    if (whole < kTooShortToJudge || whole < kGrowth * quarter) return;
  }
  ADD_FAILURE() << bytes << " bytes of '" << piece.substr(0, 40) << "' take " << whole
                << " s, a quarter of them " << quarter << " s";
}

}  // namespace millrace
