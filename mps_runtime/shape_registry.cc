#include "mps_runtime/shape_registry.h"

#include <algorithm>
#include <vector>

#include "mps_runtime/errors.h"

namespace millrace::runtime {
namespace {

// A message lists no more shapes than these.
constexpr size_t kListedShapes = 8;

std::string DescribeNew(const GraphKey& key, const std::string& shapes) {
  return "model '" + key.model + "': inputs of shape " + shapes + " are new to " + key.entry_point;
}

}  // namespace

bool ShapeRegistry::Admit(GraphKey key, int slot, const std::function<std::string()>& shapes) {
  const bool compiles = options_.max_compiled != 0;
  const bool may_freeze = options_.policy == GraphCachePolicy::kFrozen;
  if (!compiles && !may_freeze) return true;

  key.instance = 0;
  MutexLock lock(mu_);
  const bool warms_up = !frozen_ || slot == kDefaultSlot;
  const bool is_warm = warm_.contains(key);
  const bool takes = warms_up || is_warm;
  if (!takes && options_.new_shape == NewShape::kRefuse) {
    ++counters_.refused_frozen;
    throw ShapeRefused(DescribeNew(key, shapes()) + " and the graph cache is frozen; allowed are " +
                       List(warm_, key));
  }
  Shapes& compiled = compiled_[CompilerOf(slot)];
  if (compiles && !compiled.contains(key)) {
    if (compiled.size() >= options_.max_compiled) {
      ++counters_.refused_limit;
      throw ShapeRefused(
          DescribeNew(key, shapes()) + " and " +
          (options_.by_thread ? "this worker's graph cache holds " : "the device has compiled ") +
          std::to_string(compiled.size()) +
          " shapes, as many as graph_cache_entries allows; allowed are " + List(compiled, key));
    }
    compiled.emplace(key, shapes());
  }
  if (warms_up && may_freeze && !is_warm) warm_.emplace(key, shapes());
  if (!takes) ++counters_.eager;
  return takes;
}

void ShapeRegistry::Forget(int slot) {
  if (!options_.by_thread) return;
  MutexLock lock(mu_);
  compiled_[CompilerOf(slot)].clear();
}

std::string ShapeRegistry::List(const Shapes& shapes, const GraphKey& key) {
  std::vector<std::string> found;
  for (const auto& [other, text] : shapes) {
    if (other.model == key.model && other.entry_point == key.entry_point) found.push_back(text);
  }
  if (found.empty()) return "none";
  std::sort(found.begin(), found.end());
  const size_t listed = std::min(found.size(), kListedShapes);
  std::string text = found.front();
  for (size_t i = 1; i < listed; ++i) text += " or " + found[i];
  if (listed < found.size())
    text += " or one of " + std::to_string(found.size() - listed) + " more";
  return text;
}

void ShapeRegistry::Freeze() {
  MutexLock lock(mu_);
  frozen_ = options_.policy == GraphCachePolicy::kFrozen;
}

ShapeStats ShapeRegistry::stats() const {
  MutexLock lock(mu_);
  ShapeStats stats = counters_;
  for (const Shapes& compiled : compiled_) stats.compiled += compiled.size();
  return stats;
}

std::array<size_t, kStreamSlots> ShapeRegistry::CompiledBySlot() const {
  std::array<size_t, kStreamSlots> counts{};
  MutexLock lock(mu_);
  for (size_t i = 0; i < compiled_.size(); ++i) counts[i] = compiled_[i].size();
  return counts;
}

}  // namespace millrace::runtime
