#include "server/scheduling/job_lines.h"

#include <algorithm>
#include <utility>

namespace millrace::server {
namespace {

bool IsShort(const Job& job) { return job.service < JobLines::kLong; }

}  // namespace

void JobLines::Push(Line& line, std::unique_ptr<Job> job) {
  if (HasBegun(line) && IsShort(*job)) ++short_started_;
  line.push_back(std::move(job));
}

std::unique_ptr<Job> JobLines::TakeOut(const Place& place) {
  std::unique_ptr<Job> job = std::move((*place.line)[place.index]);
  if (HasBegun(*place.line) && IsShort(*job)) --short_started_;
  return job;
}

std::unique_ptr<Job> JobLines::Take(const Place& place) {
  std::unique_ptr<Job> job = TakeOut(place);
  place.line->erase(place.line->begin() + static_cast<Line::difference_type>(place.index));
  return job;
}

void JobLines::CloseGaps() {
  for (Line* line : all()) std::erase(*line, nullptr);
}

std::optional<JobLines::Place> JobLines::Find(const Reply& reply) {
  for (Line* line : all()) {
    const auto found =
        std::ranges::find_if(*line, [&reply](const auto& job) { return &job->reply == &reply; });
    if (found != line->end()) return Place{line, static_cast<size_t>(found - line->begin())};
  }
  return std::nullopt;
}

Duration JobLines::OldestWait(TimePoint now) const {
  Duration longest{};
  for (const Line* line : all()) {
    if (!line->empty()) longest = std::max(longest, now - line->front()->enqueued);
  }
  return longest;
}

}  // namespace millrace::server
