#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "mps_runtime/base/mutex.h"
#include "mps_runtime/graph_cache.h"

namespace millrace::runtime {

// The shapes that graph caches take after the warm-up: every new shape, or only those that a
// warm-up ran.
enum class GraphCachePolicy : uint8_t { kGrow, kFrozen };

// The handling of a request whose shape a frozen cache does not take.
enum class NewShape : uint8_t { kEager, kRefuse };

struct ShapeStats {
  size_t compiled = 0;          // distinct shapes; 0 where the device compiles none
  uint64_t eager = 0;           // forwards that ran without a graph because the caches are frozen
  uint64_t refused_frozen = 0;  // forwards that were refused because the caches are frozen
  uint64_t refused_limit = 0;   // forwards that were refused because of max_compiled
};

// Decides which shapes the graph caches of a process may take, and bounds the shapes of a device
// that keeps each compiled shape until the process exits. Everything that runs before Freeze is
// warm-up, and after it everything that the main thread runs: a model that is loaded later
// registers its shapes there, and every worker may cache them from then on. Shapes are identified
// by their key without its instance, so a model that is loaded again has its shapes already.
// Thread-safe. It is called only for shapes that a thread's own cache does not hold, and takes a
// lock then unless there is nothing to decide.
class ShapeRegistry {
 public:
  struct Options {
    GraphCachePolicy policy = GraphCachePolicy::kGrow;
    NewShape new_shape = NewShape::kEager;
    size_t max_compiled = 0;  // 0: the device compiles no shapes
  };

  explicit ShapeRegistry(Options options) : options_(options) {}

  // Returns true if the thread's cache may take a shape. Called before the forward of a shape that
  // it does not hold. `shapes` describes the shape for people. Throws ShapeRefused.
  bool Admit(GraphKey key, bool on_main_thread, const std::function<std::string()>& shapes)
      MILLRACE_EXCLUDES(mu_);
  // Ends the warm-up. Has no effect when the caches may grow.
  void Freeze() MILLRACE_EXCLUDES(mu_);

  ShapeStats stats() const MILLRACE_EXCLUDES(mu_);
  size_t max_compiled() const { return options_.max_compiled; }

 private:
  struct Known {
    std::string shapes;
    bool warm = false;  // true once a warm-up has run it
  };

  std::string Allowed(const GraphKey& key) const MILLRACE_REQUIRES(mu_);

  const Options options_;
  mutable Mutex mu_;
  bool frozen_ MILLRACE_GUARDED_BY(mu_) = false;
  // Grows only by warm-ups, and up to max_compiled.
  std::unordered_map<GraphKey, Known, GraphKeyHash> known_ MILLRACE_GUARDED_BY(mu_);
  ShapeStats counters_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::runtime
