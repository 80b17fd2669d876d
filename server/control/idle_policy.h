#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// Decides which models are to leave the memory. It keeps no state and does nothing itself.
class IdlePolicy {
 public:
  struct Options {
    Duration unload_after{};     // unload what was not used for so long; 0: never for that reason
    uint64_t memory_budget = 0;  // bytes, by estimate, of all models in memory; 0: no limit
  };

  // A model in memory.
  struct Loaded {
    uint64_t bytes = 0;  // estimate of its memory
    TimePoint last_used{};
    bool in_use = false;  // requests wait or run; then it stays
  };

  enum class Reason : uint8_t { kIdle, kMemory };
  struct Unload {
    size_t model = 0;  // index
    Reason reason = Reason::kIdle;

    friend bool operator==(const Unload&, const Unload&) = default;
  };
  struct Plan {
    std::vector<Unload> unload = {};  // the longest unused first
    // False if models in use leave no room for the one that is to be loaded.
    bool fits = true;
  };

  explicit IdlePolicy(const Options& options) : options_(options) {}

  bool enabled() const { return options_.unload_after > Duration{} || options_.memory_budget != 0; }
  const Options& options() const { return options_; }

  // Returns what to unload now: models that were idle too long and, while the sum of the estimates
  // is above the budget, the one that was used least recently. The one that was used last stays,
  // even if it exceeds the budget by itself.
  Plan Now(const std::vector<Loaded>& models, TimePoint now) const;
  // Returns what to unload for a model of so many bytes that is to be loaded next. It fits beside
  // the others within the budget, or alone, be it larger than the budget.
  Plan BeforeLoad(const std::vector<Loaded>& models, uint64_t bytes) const;

 private:
  const Options options_;
};

}  // namespace millrace::server
