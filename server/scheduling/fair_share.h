#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::server {

// How soon the requests of a key are served among those of others. It changes when they are served,
// not how much they get.
enum class Priority : uint8_t { kLow, kNormal, kHigh };
inline constexpr size_t kPriorities = 3;

constexpr std::string_view ToString(Priority priority) {
  constexpr std::string_view kNames[kPriorities] = {"low", "normal", "high"};
  return kNames[static_cast<size_t>(priority)];
}

constexpr std::optional<Priority> ParsePriority(std::string_view name) {
  for (const Priority priority : {Priority::kLow, Priority::kNormal, Priority::kHigh}) {
    if (ToString(priority) == name) return priority;
  }
  return std::nullopt;
}

// The key that a job counts for, and that key's claim to the workers. Plain data, as the job is.
struct FairShare {
  size_t key = 0;  // a small number; 0: no keys are told apart
  double weight = 1;
  Priority priority = Priority::kNormal;
};

}  // namespace millrace::server
