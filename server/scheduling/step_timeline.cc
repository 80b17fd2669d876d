#include "server/scheduling/step_timeline.h"

#include <chrono>
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

}  // namespace millrace::server
