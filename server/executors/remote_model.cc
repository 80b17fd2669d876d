#include "server/executors/remote_model.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/hash/hash.h"
#include "models/core/errors.h"
#include "server/executors/delivered_outputs.h"
#include "server/executors/executor_pool.h"
#include "server/executors/payload_fields.h"
#include "server/executors/wait_limit.h"
#include "server/logging/logging.h"
#include "server/scheduling/input_field.h"
#include "server/scheduling/step_failure.h"

namespace millrace::server {
namespace {

// A step may take so many times as long as the longest one before it.
constexpr int kStepLimitFactor = 20;

// The state that the front keeps of a request between two steps.
struct RemoteRequest final : models::RequestState {
  ~RemoteRequest() override {
    if (link != nullptr && link->alive()) link->Tell(CancelOrder{id});
  }
  void Suspend() override {
    if (link != nullptr && link->alive()) link->Tell(SuspendOrder{id});
  }
  Place place() const override {
    if (link == nullptr || !link->alive()) return {};
    return {.where = link.get(), .steps = link->steps()};
  }

  std::shared_ptr<ExecutorLink> link;  // the executor that has its state; null: none
  uint64_t id = 0;                     // there
  DeliveredOutputs delivered;
  // After deaths in its steps: those of executors that were out of memory, and all others.
  int replays_without_memory = 0;
  int replays = 0;
  bool is_suspect = false;
  bool alone = false;  // it shares no step
};

RemoteRequest& StateOf(models::Request& request) {
  if (request.state() == nullptr) request.set_state(std::make_unique<RemoteRequest>());
  return static_cast<RemoteRequest&>(*request.state());
}

// Returns true if the outputs are ones that a request with this input may have.
bool Fits(const models::Input& input, const std::vector<models::Output>& outputs) {
  const auto* translation = std::get_if<models::TranslateInput>(&input);
  return std::ranges::all_of(outputs, [&](const models::Output& output) {
    if (output.index() != input.index()) return false;
    const auto* sentence = std::get_if<models::TranslateOutput>(&output);
    return sentence == nullptr || sentence->text_index < translation->texts.size();
  });
}

}  // namespace

// A step of requests that may be on several executors, which run their parts one after the other.
class RemoteModel::RemoteBatch final : public models::Batch {
 public:
  RemoteBatch(const RemoteModel& model, std::span<models::Request* const> requests)
      : model_(model), pool_(model.pool_) {
    for (models::Request* request : requests) {
      if (!request->outcome()) requests_.push_back(request);
    }
  }

  void Forward(runtime::WorkerContext& /*context*/) override {
    const TimePoint begin = pool_.clock().Now();
    RunGroups();
    if (disturbed_) stalled_ = pool_.clock().Now() - begin - computed_;
  }

  Duration stalled() const override { return stalled_; }

  void Complete() override {
    for (Result& result : results_) {
      try {
        Deliver(*result.request, std::move(result.result));
      } catch (...) {  // nobody knows what its client has
        result.request->Finish(StepFailure(model_));
      }
    }
  }

 private:
  struct Group {
    std::shared_ptr<ExecutorLink> link;
    std::vector<models::Request*> requests;
    bool alone = false;
  };
  struct Result {
    models::Request* request;
    StepResult result;
  };

  void RunGroups() {
    std::vector<Group> groups;
    std::vector<models::Request*> fresh;
    for (models::Request* request : requests_) {
      RemoteRequest& state = StateOf(*request);
      if (state.link != nullptr && !state.link->alive())
        Replay(*request, state.link->AwaitDeath(), /*was_in_step=*/false);
      if (request->outcome()) continue;
      if (state.alone) {
        groups.push_back({state.link, {request}, /*alone=*/true});
      } else if (state.link == nullptr) {
        fresh.push_back(request);
      } else {
        GroupOf(groups, state.link).requests.push_back(request);
      }
    }
    if (!fresh.empty()) {
      if (auto link = Choose(fresh)) {
        // They go with those that are under way, so that this is one step, unless that executor is
        // busier with other steps.
        const auto with = std::ranges::find(groups, false, &Group::alone);
        if (with != groups.end() && with->link->steps() <= link->steps()) link = with->link;
        Group& group = GroupOf(groups, link);
        group.requests.insert(group.requests.end(), fresh.begin(), fresh.end());
      }
    }
    for (Group& group : groups) {
      if (group.link == nullptr) group.link = Choose(group.requests);
      if (group.link == nullptr) continue;
      try {
        Run(group);
      } catch (...) {
        // Nobody knows how much of the step has come over the connection.
        group.link->Kill(DeathCause::kKilled, "the server failed within a step of it");
        RunOneByOne(group, StepFailure(model_));
      }
    }
  }

  static Group& GroupOf(std::vector<Group>& groups, const std::shared_ptr<ExecutorLink>& link) {
    const auto found = std::ranges::find_if(
        groups, [&](const Group& group) { return !group.alone && group.link == link; });
    return found != groups.end() ? *found : groups.emplace_back(Group{link, {}, false});
  }

  // Returns an executor for requests that begin. If there is none, those that are not finished have
  // their turn again.
  std::shared_ptr<ExecutorLink> Choose(const std::vector<models::Request*>& requests) {
    auto link = pool_.Choose(model_.id_, [&] {
      disturbed_ = true;
      return std::ranges::none_of(requests,
                                  [](const auto* request) { return request->ShouldStop(); });
    });
    if (link.ok()) return *std::move(link);
    if (!absl::IsCancelled(link.status())) {
      for (models::Request* request : requests) request->Finish(link.status());
    }
    return nullptr;
  }

  void Run(Group& group) {
    ExecutorLink& link = *group.link;
    const ExecutorLink::Lane lane(link);
    const StepGate::Place place(link.gate(), group.alone);
    if (!link.alive()) {
      // Another step has ended it, so that none of these is to blame.
      const ExecutorDeath death = link.AwaitDeath();
      for (models::Request* request : group.requests)
        Replay(*request, death, /*was_in_step=*/false);
      return;
    }
    FieldWriter step;
    step(model_.id_);
    for (models::Request* request : group.requests) {
      RemoteRequest& state = StateOf(*request);
      const bool begins = state.link == nullptr;
      if (begins) state.id = pool_.NextRequestId();
      WriteRequest(state.id, request->expires(), begins ? &request->input() : nullptr, step,
                   state.delivered.spoken());
    }
    WaitLimit wait(pool_.clock(), std::max(Duration(pool_.config().executor_step_timeout),
                                           kStepLimitFactor * Duration(model_.longest_step_.load(
                                                                  std::memory_order_relaxed))));
    auto results =
        link.RunStep(lane.number(), step, group.requests.size(), "a step took too long", [&] {
          for (models::Request* request : group.requests) {
            if (request->cancelled()) link.Tell(CancelOrder{StateOf(*request).id});
          }
          return !wait.IsOver();
        });
    if (absl::IsResourceExhausted(results.status())) return RunOneByOne(group, results.status());
    if (results.ok()) {
      for (size_t i = 0; i < group.requests.size() && results.ok(); ++i) {
        if (Fits(group.requests[i]->input(), (*results)[i].outputs)) continue;
        link.Kill(DeathCause::kProtocol, "it returned outputs of another task");
        results = InvalidArgument("outputs of another task");
      }
    }
    if (!results.ok()) {
      const ExecutorDeath death = link.AwaitDeath();
      for (models::Request* request : group.requests) Replay(*request, death, /*was_in_step=*/true);
      return;
    }
    const Duration took = wait.Took();
    NoteTime(took);
    computed_ += took;
    for (size_t i = 0; i < group.requests.size(); ++i) {
      StateOf(*group.requests[i]).link = group.link;
      results_.push_back({group.requests[i], std::move((*results)[i])});
    }
  }

  // Has the requests of a step that had no effect, such as one that is too large to be sent, run
  // one by one from now on. One that was by itself fails.
  static void RunOneByOne(const Group& group, const absl::Status& status) {
    for (models::Request* request : group.requests) {
      if (group.requests.size() == 1) request->Finish(status);
      StateOf(*request).alone = true;
    }
  }

  void NoteTime(Duration took) {
    Duration::rep longest = model_.longest_step_.load(std::memory_order_relaxed);
    while (took.count() > longest && !model_.longest_step_.compare_exchange_weak(
                                         longest, took.count(), std::memory_order_relaxed)) {
    }
  }

  // Lets a request begin again whose executor is dead, or ends it.
  void Replay(models::Request& request, const ExecutorDeath& death, bool was_in_step) {
    RemoteRequest& state = StateOf(request);
    state.link.reset();
    disturbed_ = true;
    if (was_in_step && death.Blames()) {
      if (state.is_suspect) return Convict(request, death);
      state.is_suspect = true;
      state.alone = true;
    }
    const bool without_memory = death.cause == DeathCause::kOutOfMemory;
    int& replays = without_memory ? state.replays_without_memory : state.replays;
    const int most = without_memory ? kMostReplaysWithoutMemory : kMostReplays;
    const bool often_enough = was_in_step && replays >= most;
    if (often_enough || !pool_.budget().Take(pool_.clock().Now())) {
      request.Finish(Unavailable("the executor of the request died (", death.how, ", ", death.id,
                                 "), and ",
                                 often_enough ? "it was run again often enough"
                                              : "too many requests are run again already"));
      return;
    }
    if (was_in_step) ++replays;
    pool_.CountReplay();
    state.delivered.BeginReplay();
  }

  void Convict(models::Request& request, const ExecutorDeath& death) {
    pool_.convicted().Convict(model_.Fingerprint(request.input()), model_.info().name, death.id,
                              pool_.clock().Now());
    pool_.CountConvicted();
    logging::Error("a request was convicted",
                   {{"model", model_.info().name}, {"executor", death.id}, {"how", death.how}});
    request.Finish(Internal("the request ended two executors of model '", model_.info().name, "' (",
                            death.how, "); crash ", death.id));
  }

  void Deliver(models::Request& request, StepResult result) {
    using Verdict = DeliveredOutputs::Verdict;
    RemoteRequest& state = StateOf(request);
    for (models::Output& output : result.outputs) {
      const Verdict verdict = state.delivered.Take(output);
      if (verdict == Verdict::kDeliver) {
        request.Emit(std::move(output));
        state.replays = 0;
      }
      if (verdict == Verdict::kDiffers) return EndDifferent(request);
    }
    request.EstimateWorkLeft(result.work_done + result.work_left);
    request.AdvanceTo(result.work_left);
    if (!result.outcome) return;
    if (result.outcome->ok() && !state.delivered.caught_up()) return EndDifferent(request);
    // The executor has forgotten it.
    state.link.reset();
    if (result.outcome->ok()) pool_.budget().OnSuccess();
    request.Finish(*std::move(result.outcome));
  }

  static void EndDifferent(models::Request& request) {
    request.Finish(Internal(
        "the executor of the request died, and another one came to other results, so that it "
        "could not go on where it was"));
  }

  const RemoteModel& model_;
  ExecutorPool& pool_;
  std::vector<models::Request*> requests_;
  std::vector<Result> results_;
  bool disturbed_ = false;  // an executor was missing or died
  Duration computed_{};     // in steps that did not fail
  Duration stalled_{};
};

RemoteModel::RemoteModel(models::ModelInfo info, uint64_t id, ExecutorPool& pool)
    : description_(std::move(info)), id_(id), pool_(pool) {}

RemoteModel::~RemoteModel() { pool_.Unload(id_); }

size_t RemoteModel::Fingerprint(const models::Input& input) const {
  FieldWriter written;
  written(input);
  size_t hash = absl::HashOf(info().name, info().version, written.header());
  for (const std::string_view piece : written.behind()) hash = absl::HashOf(hash, piece);
  return hash;
}

absl::Status RemoteModel::Validate(const models::Input& input) const {
  if (!pool_.convicted().any()) return absl::OkStatus();
  const auto crash = pool_.convicted().Refuse(Fingerprint(input), pool_.clock().Now());
  if (!crash) return absl::OkStatus();
  return InvalidArgument(InputField(info().task()),
                         ": an equal request ended two executors (crash ", *crash,
                         "); it is refused for an hour");
}

std::unique_ptr<models::Batch> RemoteModel::Prepare(
    std::span<models::Request* const> requests) const {
  return std::make_unique<RemoteBatch>(*this, requests);
}

}  // namespace millrace::server
