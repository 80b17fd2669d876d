#include "models/translation/translation_batch.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "models/translation/unit_output.h"

namespace millrace::translation {
namespace {

// Returns the number of rows that a sentence of the request takes in a decoder step.
size_t RowsOf(const TranslationPlan& plan) {
  return static_cast<size_t>(plan.settings().search.beam_size);
}

// Gives a new request its state.
TranslationPlan& MakePlan(models::Request& request, TranslationSettings settings,
                          const Vocabularies& vocabularies) {
  const Vocabulary& source = *vocabularies.source;
  auto made = std::make_unique<TranslationPlan>(std::get<models::TranslateInput>(request.input()),
                                                std::move(settings),
                                                [&source](char32_t c) { return source.FitOf(c); });
  TranslationPlan& plan = *made;
  request.EstimateWorkLeft(plan.WorkLeft());
  request.set_state(std::move(made));
  return plan;
}

}  // namespace

TranslationBatch::TranslationBatch(
    std::span<models::Request* const> requests, const StepLimits& limits,
    absl::FunctionRef<TranslationSettings(const models::TranslateInput&)> settings_of,
    const Vocabularies& vocabularies, const TranslationEngine& engine,
    const TranslationCache::ForModel& cache)
    : limits_(limits),
      vocabularies_(vocabularies),
      engine_(engine),
      cache_(cache),
      starter_(limits.max_source_tokens, vocabularies, cache),
      review_(limits.max_source_tokens, vocabularies, cache, starter_) {
  for (models::Request* request : requests) {
    if (request->state() == nullptr) {
      MakePlan(*request, settings_of(std::get<models::TranslateInput>(request->input())),
               vocabularies_);
    }
    auto* plan = static_cast<TranslationPlan*>(request->state());
    participants_.push_back({request, plan});
    rows_ += plan->units().size() * RowsOf(*plan);
  }
  TakeSentences();
}

void TranslationBatch::PrepareAhead(models::Request& request, TranslationSettings settings,
                                    size_t max_source_tokens, const Vocabularies& vocabularies,
                                    const TranslationCache::ForModel& cache) {
  TranslationPlan& plan = MakePlan(request, std::move(settings), vocabularies);
  UnitStarter(max_source_tokens, vocabularies, cache).TakeNext({&request, &plan});
}

TranslationBatch::~TranslationBatch() {
  if (!begun_) return;
  for (const Participant& participant : participants_) participant.plan->Suspend();
}

void TranslationBatch::TakeSentences() {
  for (const Participant& participant : participants_) {
    if (participant.plan->units().empty()) TakeNext(participant);
  }
  // The remaining rows go to the participants with the fewest sentences first.
  for (size_t share = 2; rows_ < limits_.max_rows; ++share) {
    bool more = false;
    for (const Participant& participant : participants_) {
      TranslationPlan& plan = *participant.plan;
      if (plan.all_taken() || WaitsForFirst(participant)) continue;
      if (rows_ >= limits_.max_rows || tokens_ >= limits_.max_step_tokens) return;
      if (plan.units().size() < share) TakeNext(participant);
      more = true;
    }
    if (!more) return;
  }
}

bool TranslationBatch::WaitsForFirst(const Participant& participant) {
  TranslationPlan& plan = *participant.plan;
  return participant.input().first_soon && !plan.has_translated() &&
         std::ranges::any_of(plan.units(), [](const auto& unit) { return !unit.copied; });
}

void TranslationBatch::TakeNext(const Participant& participant) {
  tokens_ += starter_.TakeNext(participant);
  rows_ += RowsOf(*participant.plan);
}

std::vector<TranslationBatch::Job> TranslationBatch::JobsAtWork() const {
  std::vector<Job> jobs;
  for (const Participant& participant : participants_) {
    for (TranslationUnit& unit : participant.plan->units()) {
      if (!unit.done() && !unit.repeats) jobs.push_back({&unit.job, participant.request});
    }
  }
  return jobs;
}

void TranslationBatch::Forward(runtime::WorkerContext& context) {
  begun_ = true;
  std::vector<Job> jobs = JobsAtWork();
  if (jobs.empty()) return;
  const models::Request& clock = *participants_.front().request;
  const TimePoint end =
      clock.now() + std::max<Duration>(limits_.time, jobs.size() * limits_.time_each);
  const size_t begun = jobs.size();
  std::vector<SentenceJob*> advanced;
  // Each call decodes more tokens, unless the engine has a number of its own: a step ends in time
  // where tokens are slow, and calls cost little where they are fast.
  constexpr size_t kMostTokens = 1024;
  constexpr size_t kCallsForFirstToken = 4;
  const size_t together = engine_.TokensTogether();
  size_t tokens = SomebodyExpectsFirstToken() ? 1 : together;
  size_t calls = 0;
  do {
    ++calls;
    advanced.clear();
    for (const Job& job : jobs) advanced.push_back(job.job);
    engine_.Advance(
        advanced, tokens, [&jobs](size_t job) { return jobs[job].request->ShouldStop(); }, context);
    std::erase_if(jobs, [](const Job& job) { return !job.job->at_work(); });
    // Such an engine takes as long for few sentences as for many: others may take the places of
    // those that have ended.
    if (together > 1 && begun - jobs.size() > begun / 4) return;
    // The jobs that are left wait for memory that sentences of other steps hold.
    if (std::ranges::none_of(jobs, [](const Job& job) { return job.job->state != nullptr; }))
      return;
    // Two tokens are needed, because the last one may still change.
    if (SomebodyWaitsForFirstToken(/*decided=*/2)) return;
    // Calls stay short while a client waits, but not for ever: a search may take long to decide any
    // token.
    if (calls > kCallsForFirstToken || !SomebodyWaitsForFirstToken(/*decided=*/0))
      tokens = together > 1 ? together : std::min(2 * tokens, kMostTokens);
  } while (!jobs.empty() && clock.now() < end);
}

bool TranslationBatch::SomebodyExpectsFirstToken() const {
  return std::ranges::any_of(participants_, [](const Participant& participant) {
    const TranslationUnit& first = participant.plan->units().front();
    return first.in_pieces && first.emitted == 0 && !first.done();
  });
}

bool TranslationBatch::SomebodyWaitsForFirstToken(size_t decided) const {
  return std::ranges::any_of(participants_, [decided](const Participant& participant) {
    const TranslationUnit& first = participant.plan->units().front();
    return first.in_pieces && first.emitted == 0 && !first.done() && first.job.state != nullptr &&
           first.job.target.size() >= decided;
  });
}

void TranslationBatch::Complete() {
  begun_ = false;
  for (const Participant& participant : participants_) {
    models::Request& request = *participant.request;
    std::deque<TranslationUnit>& units = participant.plan->units();
    if (std::ranges::any_of(units, [](const auto& unit) { return unit.job.stopped; })) {
      request.Finish(request.cancelled()
                         ? absl::CancelledError("cancelled")
                         : absl::DeadlineExceededError("the deadline passed during translation"));
      continue;
    }
    for (size_t i = 0; i < units.size();) {
      const bool waits = units[i].copied || units[i].reviewed || !units[i].done();
      if (waits || !review_.Review(participant, i)) ++i;
    }
    while (!units.empty()) {
      TranslationUnit& unit = units.front();
      // The part that it repeats is done; it is translated again if the cache has evicted that
      // part.
      if (unit.repeats && !participant.plan->parts().Find(unit.job)) unit.repeats = false;
      if (!unit.done()) break;
      if (!unit.copied && !unit.reviewed && review_.Review(participant, 0)) continue;
      if (!unit.copied) participant.plan->SetHasTranslated();
      Emit(participant, unit, vocabularies_);
      if (unit.remember) cache_.Insert(unit.job);
      if (unit.is_part && !unit.copied && !unit.repeats) participant.plan->parts().Insert(unit.job);
      units.pop_front();
    }
    request.AdvanceTo(participant.plan->WorkLeft());
    if (!units.empty()) {
      EmitPart(participant, units.front(), vocabularies_);
    } else if (participant.plan->all_taken()) {
      request.Finish(absl::OkStatus());
    }
  }
}

}  // namespace millrace::translation
