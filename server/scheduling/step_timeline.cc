#include "server/scheduling/step_timeline.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace millrace::server {
namespace {

// Blocks look continuous across a gap of this length, and end when they are this long.
constexpr std::chrono::milliseconds kGap{2};
constexpr std::chrono::milliseconds kLong{25};

}  // namespace

void StepTimeline::Begin(int worker, const std::string& model, size_t requests, TimePoint now) {
  Lane& lane = workers_[static_cast<size_t>(worker)];
  MutexLock lock(lane.mu);
  lane.runs = true;
  lane.running.model = model;
  lane.running.requests = requests;
  lane.running.begin = now;
}

void StepTimeline::End(int worker, TimePoint now) {
  Lane& lane = workers_[static_cast<size_t>(worker)];
  MutexLock lock(lane.mu);
  lane.runs = false;
  ++lane.steps;
  lane.requests += lane.running.requests;
  lane.busy += now - lane.running.begin;
  if (now < lane.record_until) {
    if (lane.recorded.size() == kMaxSteps) lane.recorded.pop_front();
    lane.recorded.push_back({lane.running.model, lane.running.requests, lane.running.begin, now});
  } else if (!lane.recorded.empty()) {
    lane.recorded = {};
  }
  if (!lane.blocks.empty()) {
    Block& last = lane.blocks.back();
    if (lane.running.begin - last.end <= kGap && now - last.begin <= kLong &&
        last.model == lane.running.model) {
      last.end = now;
      ++last.steps;
      last.requests += lane.running.requests;
      return;
    }
  }
  Block block;
  if (lane.blocks.size() == kMaxBlocks) {  // the memory of its name is used again
    block = std::move(lane.blocks.front());
    lane.blocks.pop_front();
  }
  block.model = lane.running.model;
  block.begin = lane.running.begin;
  block.end = now;
  block.steps = 1;
  block.requests = lane.running.requests;
  lane.blocks.push_back(std::move(block));
}

std::vector<StepTimeline::Worker> StepTimeline::Read(TimePoint since) const {
  std::vector<Worker> all;
  all.reserve(workers_.size());
  for (const Lane& lane : workers_) {
    Worker& worker = all.emplace_back();
    MutexLock lock(lane.mu);
    worker.steps = lane.steps;
    worker.requests = lane.requests;
    worker.busy = lane.busy;
    if (lane.runs) worker.running = lane.running;
    for (const Block& block : lane.blocks) {
      if (block.end > since) worker.blocks.push_back(block);
    }
  }
  return all;
}

std::vector<StepTimeline::Unseen> StepTimeline::RecordSteps(std::span<const uint64_t> seen,
                                                            TimePoint now) {
  std::vector<Unseen> all;
  all.reserve(workers_.size());
  for (size_t i = 0; i < workers_.size(); ++i) {
    Lane& lane = workers_[i];
    Unseen& unseen = all.emplace_back();
    MutexLock lock(lane.mu);
    lane.record_until = now + kRecordingTime;
    unseen.next = lane.steps;
    if (seen.empty()) continue;
    const uint64_t oldest = lane.steps - lane.recorded.size();
    const uint64_t first = std::clamp(seen[i], oldest, lane.steps);
    unseen.lost = first - std::min(seen[i], first);
    unseen.steps.assign(lane.recorded.begin() + static_cast<std::ptrdiff_t>(first - oldest),
                        lane.recorded.end());
  }
  return all;
}

}  // namespace millrace::server
