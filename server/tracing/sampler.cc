#include "server/tracing/sampler.h"

#include <algorithm>

namespace millrace::tracing {
namespace {

constexpr uint64_t kAll = uint64_t{1} << 63;

}  // namespace

Sampler::Sampler(double ratio, bool follows_parent)
    : bound_(static_cast<uint64_t>(std::clamp(ratio, 0.0, 1.0) * static_cast<double>(kAll))),
      follows_parent_(follows_parent) {}

bool Sampler::ShouldSample(const TraceId& id, const std::optional<TraceContext>& parent) const {
  if (follows_parent_ && parent) return parent->sampled();
  uint64_t last = 0;
  for (size_t i = 8; i < id.size(); ++i) last = last << 8 | id[i];
  return last >> 1 < bound_;
}

}  // namespace millrace::tracing
