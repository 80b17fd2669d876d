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

bool ShapeRegistry::Admit(GraphKey key, bool on_main_thread,
                          const std::function<std::string()>& shapes) {
  const bool compiles = options_.max_compiled != 0;
  if (!compiles && options_.policy == GraphCachePolicy::kGrow) return true;

  key.instance = 0;
  MutexLock lock(mu_);
  const bool warms_up = !frozen_ || on_main_thread;
  const auto found = known_.find(key);
  if (found != known_.end() && (warms_up || found->second.warm)) {
    found->second.warm = true;
    return true;
  }
  if (!warms_up && options_.new_shape == NewShape::kRefuse) {
    ++counters_.refused_frozen;
    throw ShapeRefused(DescribeNew(key, shapes()) + " and the graph cache is frozen; allowed are " +
                       Allowed(key));
  }
  if (found == known_.end() && compiles && known_.size() >= options_.max_compiled) {
    ++counters_.refused_limit;
    throw ShapeRefused(DescribeNew(key, shapes()) + " and the device has compiled " +
                       std::to_string(known_.size()) +
                       " shapes, as many as graph_cache_entries allows; allowed are " +
                       Allowed(key));
  }
  if (found == known_.end() && (warms_up || compiles))
    known_.emplace(key, Known{.shapes = shapes(), .warm = warms_up});
  if (!warms_up) ++counters_.eager;
  return warms_up;
}

std::string ShapeRegistry::Allowed(const GraphKey& key) const {
  std::vector<std::string> shapes;
  for (const auto& [other, known] : known_) {
    const bool may_run = known.warm || options_.new_shape == NewShape::kEager;
    if (may_run && other.model == key.model && other.entry_point == key.entry_point)
      shapes.push_back(known.shapes);
  }
  if (shapes.empty()) return "none";
  std::sort(shapes.begin(), shapes.end());
  const size_t listed = std::min(shapes.size(), kListedShapes);
  std::string text = shapes.front();
  for (size_t i = 1; i < listed; ++i) text += " or " + shapes[i];
  if (listed < shapes.size())
    text += " or one of " + std::to_string(shapes.size() - listed) + " more";
  return text;
}

void ShapeRegistry::Freeze() {
  MutexLock lock(mu_);
  frozen_ = options_.policy == GraphCachePolicy::kFrozen;
}

ShapeStats ShapeRegistry::stats() const {
  MutexLock lock(mu_);
  ShapeStats stats = counters_;
  if (options_.max_compiled != 0) stats.compiled = known_.size();
  return stats;
}

}  // namespace millrace::runtime
