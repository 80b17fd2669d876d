#pragma once

#include <array>
#include <barrier>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "mps_runtime/base/joining_thread.h"

namespace millrace::testing {

// Runs body, which may take the number of its thread, 0 .. threads - 1, in so many threads that
// begin at the same moment. Returns once all have ended.
template <typename Count, typename Body>
void AtOnce(Count threads, const Body& body) {
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  const auto run = [&]([[maybe_unused]] Count thread) {
    start.arrive_and_wait();
    if constexpr (std::is_invocable_v<const Body&, Count>) {
      body(thread);
    } else {
      body();
    }
  };
  std::vector<JoiningThread> running;
  for (Count i = 0; i < threads; ++i) running.emplace_back([&run, i] { run(i); });
}

// Runs each of the bodies in a thread of its own, all of which begin at the same moment. Returns
// once all have ended.
template <typename... Bodies>
void AllAtOnce(const Bodies&... bodies) {
  std::barrier start(std::ptrdiff_t{sizeof...(bodies)});
  const auto run = [&start](const auto& body) {
    return JoiningThread([&start, &body] {
      start.arrive_and_wait();
      body();
    });
  };
  const std::array running = {run(bodies)...};
}

}  // namespace millrace::testing
