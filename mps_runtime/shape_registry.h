#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "mps_runtime/base/mutex.h"
#include "mps_runtime/graph_cache.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

// The shapes that graph caches take after the warm-up: every new shape, or only those that a
// warm-up ran.
enum class GraphCachePolicy : uint8_t { kGrow, kFrozen };

// The handling of a request whose shape a frozen cache does not take.
enum class NewShape : uint8_t { kEager, kRefuse };

struct ShapeStats {
  size_t compiled = 0;          // shapes that the device keeps, of all threads together; 0 where it
                                // compiles none
  uint64_t eager = 0;           // forwards that ran without a graph because the caches are frozen
  uint64_t refused_frozen = 0;  // forwards that were refused because the caches are frozen
  uint64_t refused_limit = 0;   // forwards that were refused because of max_compiled
};

// Decides which shapes the graph caches of a process may take, and bounds the shapes of a device
// that compiles each shape and keeps it: once for all threads, until the process exits, or once for
// each thread, until that thread ends. Everything that runs before Freeze is warm-up, and after it
// everything that the main thread runs: a model that is loaded later registers its shapes there,
// and every worker may cache them from then on. Shapes are identified by their key without its
// instance, so a model that is loaded again has its shapes already. Thread-safe. It is called only
// for shapes that a thread's own cache does not hold, and takes a lock then unless there is nothing
// to decide.
class ShapeRegistry {
 public:
  struct Options {
    GraphCachePolicy policy = GraphCachePolicy::kGrow;
    NewShape new_shape = NewShape::kEager;
    size_t max_compiled = 0;  // 0: the device compiles no shapes
    bool by_thread = false;   // each thread compiles on its own, up to max_compiled shapes
  };

  explicit ShapeRegistry(Options options) : options_(options) {}

  // Returns true if the cache of the thread with this slot may take a shape. Called before the
  // forward of a shape that it does not hold. `shapes` describes the shape for people. Throws
  // ShapeRefused.
  bool Admit(GraphKey key, int slot, const std::function<std::string()>& shapes)
      MILLRACE_EXCLUDES(mu_);
  // Forgets what the worker of this slot compiled on its own, which ends with its thread.
  void Forget(int slot) MILLRACE_EXCLUDES(mu_);
  // Ends the warm-up. Has no effect when the caches may grow.
  void Freeze() MILLRACE_EXCLUDES(mu_);

  ShapeStats stats() const MILLRACE_EXCLUDES(mu_);
  // Returns the number of shapes that each slot's thread has compiled; slot 0 stands for all
  // threads unless each compiles on its own.
  std::array<size_t, kStreamSlots> CompiledBySlot() const MILLRACE_EXCLUDES(mu_);
  size_t max_compiled() const { return options_.max_compiled; }
  bool by_thread() const { return options_.by_thread; }

 private:
  // Shapes as people read them.
  using Shapes = std::unordered_map<GraphKey, std::string, GraphKeyHash>;

  // Returns the index into compiled_.
  size_t CompilerOf(int slot) const {
    return static_cast<size_t>(options_.by_thread ? slot : kDefaultSlot);
  }
  // Describes those of `shapes` that belong to the key's model and entry point.
  static std::string List(const Shapes& shapes, const GraphKey& key);

  const Options options_;
  mutable Mutex mu_;
  bool frozen_ MILLRACE_GUARDED_BY(mu_) = false;
  // The shapes that a warm-up ran; empty if the caches may grow.
  Shapes warm_ MILLRACE_GUARDED_BY(mu_);
  // The shapes that each compiler (see CompilerOf) has compiled, up to max_compiled each.
  std::array<Shapes, kStreamSlots> compiled_ MILLRACE_GUARDED_BY(mu_);
  ShapeStats counters_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::runtime
