#include "server/executors/model_executor.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/kernels/parallel_for.h"
#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/base/startup_pages.h"
#include "server/executors/control_messages.h"
#include "server/executors/descriptor_passing.h"
#include "server/executors/failpoint.h"
#include "server/executors/frame.h"
#include "server/executors/loop_helpers.h"
#include "server/executors/step_messages.h"
#include "server/executors/sticky_errors.h"
#include "server/logging/logging.h"
#include "server/scheduling/step.h"
#include "server/scheduling/step_failure.h"

namespace millrace::server {
namespace {

// How often a lane looks for a model to warm up.
constexpr std::chrono::milliseconds kWarmUpLook{20};

bool WaitForever() { return true; }

// Keeps the outputs of a step. Its request stops when the front says so, or when its time is over;
// the front may give it more time with each step.
class StepSink final : public models::OutputSink {
 public:
  explicit StepSink(const Clock& clock) : clock_(clock) {}

  void Emit(models::Output output) override { outputs_.push_back(std::move(output)); }
  bool cancelled() const override { return OutputSink::cancelled() || clock_.Now() >= expires_; }

  // Between steps.
  void SetExpires(TimePoint expires) { expires_ = expires; }
  std::vector<models::Output> TakeOutputs() { return std::exchange(outputs_, {}); }

 private:
  const Clock& clock_;
  TimePoint expires_ = TimePoint::max();
  std::vector<models::Output> outputs_;
};

// A request that is under way here.
struct HeldRequest {
  HeldRequest(std::shared_ptr<const models::Model> model, models::Input input, Clock& clock)
      : model(std::move(model)),
        sink(clock),
        request(std::move(input), models::TimeLimit(TimePoint::max()), sink, clock) {
    request.EstimateWorkLeft(this->model->EstimateWork(request.input()));
  }

  // Declared before the request, whose state may lie in the model's memory.
  const std::shared_ptr<const models::Model> model;
  StepSink sink;
  models::Request request;
  // Guarded by the executor's lock.
  bool in_step = false;
  bool dropped = false;  // the front wants nothing more of it
};

class ModelExecutor {
 public:
  ModelExecutor(FileDescriptor control, std::string_view version, ExecutorHost& host)
      : version_(version), host_(host), control_(std::move(control)) {}

  absl::Status Run() {
    MILLRACE_ASSIGN_OR_RETURN(auto lanes, ReceiveDescriptors(control_.descriptor()));
    MILLRACE_ASSIGN_OR_RETURN(auto page, MapCrashPage(lanes.back().get()));
    lanes.pop_back();
    page_ = std::move(page);
    host_.ReportCrashes(*page_);
    recorder_.emplace(page_->flight);
    MILLRACE_RETURN_IF_ERROR(
        Tell(ExecutorHello{.protocol = kProtocolVersion, .version = std::string(version_)}));
    MILLRACE_ASSIGN_OR_RETURN(const ToExecutor first, Hear());
    const auto* const settings = std::get_if<ServerConfig>(&first);
    if (settings == nullptr) return InvalidArgument("the front sent no settings");
    absl::Status configured = host_.Configure(*settings);
    MILLRACE_RETURN_IF_ERROR(Tell(ExecutorReady{.status = configured}));
    if (!configured.ok()) return configured;

    for (FileDescriptor& lane : lanes) lanes_.emplace_back(std::move(lane));
    if (host_.device().ComputesOnWorkers())
      helpers_.emplace(static_cast<int>(lanes_.size()), host_.Cores());
    std::vector<JoiningThread> threads;
    threads.emplace_back([this] { Listen(); });
    for (size_t i = 0; i < lanes_.size(); ++i) threads.emplace_back([this, i] { RunLane(i); });
    LoadOrdered();
    threads.clear();
    const MutexLock lock(mu_);
    return failure_;
  }

 private:
  absl::Status Tell(const FromExecutor& message) MILLRACE_EXCLUDES(control_mu_) {
    const MutexLock lock(control_mu_);
    return control_.Send(WriteControl(message), {}, WaitForever);
  }

  absl::StatusOr<ToExecutor> Hear() {
    MILLRACE_ASSIGN_OR_RETURN(const MessageFrame frame, control_.Receive(WaitForever));
    return ReadToExecutor(frame.header);
  }

  // Ends everything for this reason. Returns false if it ends already for another one.
  bool End(absl::Status why) MILLRACE_EXCLUDES(mu_) {
    {
      const MutexLock lock(mu_);
      if (std::exchange(ending_, true)) return false;
      failure_ = std::move(why);
      loads_changed_.NotifyAll();
    }
    control_.Shutdown();
    for (MessageSocket& lane : lanes_) lane.Shutdown();
    return true;
  }

  // Does what the front says until it goes away.
  void Listen() MILLRACE_EXCLUDES(mu_) {
    absl::Status status;
    while (status.ok()) {
      auto order = Hear();
      status = order.ok() ? std::visit([this](auto& one) { return this->Obey(one); }, *order)
                          : order.status();
    }
    // Answers fail too once the front has gone.
    const bool gone = absl::IsUnavailable(status);
    if (End(gone ? absl::OkStatus() : std::move(status)) && gone) host_.OnFrontGone();
  }

  static absl::Status Obey(const ServerConfig& /*settings*/) {
    return InvalidArgument("the front sent its settings twice");
  }

  absl::Status Obey(const PingOrder& order) {
    logging::SetLevel(order.log_level);
    Failpoint("executor.ping", control_.descriptor());
    return Tell(ExecutorAlive{});
  }

  absl::Status Obey(LoadOrder& order) MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    loads_.push_back(std::move(order));
    loads_changed_.NotifyAll();
    return absl::OkStatus();
  }

  absl::Status Obey(const UnloadOrder& order) MILLRACE_EXCLUDES(mu_) {
    std::shared_ptr<const models::Model> unloaded;  // is destroyed without the lock
    const MutexLock lock(mu_);
    if (auto found = models_.find(order.model); found != models_.end()) {
      unloaded = std::move(found->second);
      models_.erase(found);
    }
    return absl::OkStatus();
  }

  absl::Status Obey(const SuspendOrder& order) MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    const auto found = requests_.find(order.request);
    if (found == requests_.end() || found->second->in_step) return absl::OkStatus();
    if (models::RequestState* state = found->second->request.state()) state->Suspend();
    return absl::OkStatus();
  }

  absl::Status Obey(const CancelOrder& order) MILLRACE_EXCLUDES(mu_) {
    std::unique_ptr<HeldRequest> dropped;  // is destroyed without the lock
    const MutexLock lock(mu_);
    const auto found = requests_.find(order.request);
    if (found == requests_.end()) return absl::OkStatus();
    found->second->dropped = true;
    found->second->sink.Cancel();
    if (found->second->in_step) return absl::OkStatus();
    dropped = std::move(found->second);
    requests_.erase(found);
    return absl::OkStatus();
  }

  // Loads models, one after the other, until the executor ends.
  void LoadOrdered() MILLRACE_EXCLUDES(mu_) {
    while (true) {
      LoadOrder order;
      {
        MutexLock lock(mu_);
        while (loads_.empty() && !ending_) loads_changed_.Wait(mu_);
        if (ending_) return;
        order = std::move(loads_.front());
        loads_.pop_front();
      }
      LoadedModel loaded{.model = order.model, .status = {}, .info = {}};
      loaded.status = Load(order, loaded.info);
      if (IsStickyError(Message(loaded.status))) {
        End(std::move(loaded.status));
        return;
      }
      if (!Tell(std::move(loaded)).ok()) return;
      const MutexLock lock(mu_);
      if (!serves_) ReleaseStartupPages();  // steps would bring their pages back
    }
  }

  absl::Status Load(const LoadOrder& order, std::optional<models::ModelInfo>& info)
      MILLRACE_EXCLUDES(mu_) {
    try {
      Failpoint("executor.load");
      MILLRACE_ASSIGN_OR_RETURN(auto model, host_.Load(order.name, order.version));
      info = model->info();
      std::shared_ptr<const models::Model> held = std::move(model);
      MILLRACE_RETURN_IF_ERROR(WarmUpLanes(held));
      const MutexLock lock(mu_);
      models_[order.model] = std::move(held);
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return Internal("model '", order.name, "' could not be loaded: ", error.what());
    }
  }

  // Has each lane warm a model up where threads keep something of it, until the first step comes:
  // then they have other things to do.
  absl::Status WarmUpLanes(const std::shared_ptr<const models::Model>& model)
      MILLRACE_EXCLUDES(mu_) {
    if (host_.device().ComputesOnWorkers()) return absl::OkStatus();
    const MutexLock lock(mu_);
    if (serves_) return absl::OkStatus();
    warming_ = model;
    ++warm_ups_;
    lanes_to_warm_ = lanes_.size();
    warm_up_status_ = absl::OkStatus();
    while (lanes_to_warm_ > 0 && !serves_ && !ending_) loads_changed_.Wait(mu_);
    warming_.reset();
    return warm_up_status_;
  }

  // Warms up what a lane has not warmed up yet. done: how many models it has.
  void WarmUpLane(runtime::WorkerContext& context, uint64_t& done) MILLRACE_EXCLUDES(mu_) {
    std::shared_ptr<const models::Model> model;
    {
      const MutexLock lock(mu_);
      if (warm_ups_ == done) return;
      done = warm_ups_;
      model = warming_;
    }
    if (model == nullptr) return;
    absl::Status status = WarmUp(*model, host_.device(), context,
                                 host_.device().SharesCompiledShapes() ? WarmUpExtent::kOneForward
                                                                       : WarmUpExtent::kEveryShape);
    const MutexLock lock(mu_);
    warm_up_status_.Update(std::move(status));
    --lanes_to_warm_;
    loads_changed_.NotifyAll();
  }

  void BeginToServe() MILLRACE_EXCLUDES(mu_) {
    {
      const MutexLock lock(mu_);
      if (std::exchange(serves_, true)) return;
      loads_changed_.NotifyAll();
    }
    host_.FinishWarmUp();
  }

  // Runs the steps that come over a connection until it ends.
  void RunLane(size_t number) MILLRACE_EXCLUDES(mu_) {
    MessageSocket& lane = lanes_[number];
    try {
      const std::unique_ptr<runtime::WorkerContext> context = host_.device().EnterWorker();
      SharedLoop* const loops = helpers_ ? helpers_->loops(static_cast<int>(number)) : nullptr;
      const kernels::ScopedLoopRunner runner(loops);
      uint64_t warmed_up = 0;
      const auto wait = [&] {
        WarmUpLane(*context, warmed_up);
        return true;
      };
      if (!host_.device().ComputesOnWorkers()) lane.SetPatience(kWarmUpLook);
      while (true) {
        const auto frame = lane.Receive(wait);
        // The front closes all its connections together, and the control connection tells.
        if (absl::IsUnavailable(frame.status())) return;
        absl::Status status = frame.status();
        if (status.ok()) status = RunFrame(*frame, *context, number);
        if (!status.ok()) {
          End(std::move(status));
          return;
        }
      }
    } catch (const std::exception& error) {
      End(Internal("a worker of an executor failed: ", error.what()));
    }
  }

  absl::Status RunFrame(const MessageFrame& frame, runtime::WorkerContext& context, size_t lane)
      MILLRACE_EXCLUDES(mu_) {
    MILLRACE_ASSIGN_OR_RETURN(auto order, ReadStep(frame));
    BeginToServe();
    if (helpers_) helpers_->BeginStep();
    absl::Status status = RunOrder(std::move(order), context, lane);
    if (helpers_) helpers_->EndStep();
    return status;
  }

  absl::Status RunOrder(StepOrder order, runtime::WorkerContext& context, size_t lane)
      MILLRACE_EXCLUDES(mu_) {
    std::vector<HeldRequest*> held;
    MILLRACE_RETURN_IF_ERROR(Enter(order, held));
    recorder_->Begin(lane, held.front()->model->info().name, Clock::Real().Now());
    for (size_t i = 0; i < held.size(); ++i)
      recorder_->AddRequest(lane, order.requests[i].id, held[i]->request.input());
    MILLRACE_RETURN_IF_ERROR(RunRequests(held, context));
    recorder_->End(lane, Clock::Real().Now());

    std::vector<StepResult> results(held.size());
    for (size_t i = 0; i < held.size(); ++i) {
      models::Request& request = held[i]->request;
      results[i] = {.outputs = held[i]->sink.TakeOutputs(),
                    .outcome = request.outcome(),
                    .work_done = request.TakeWorkDone(),
                    .work_left = request.work_left()};
    }
    Leave(order, held);
    absl::Status sent = Answer(results, lanes_[lane]);
    if (absl::IsResourceExhausted(sent)) {
      for (StepResult& result : results) result = {.outputs = {}, .outcome = sent};
      sent = Answer(results, lanes_[lane]);
    }
    return absl::IsUnavailable(sent) ? absl::OkStatus() : sent;
  }

  static absl::Status Answer(const std::vector<StepResult>& results, MessageSocket& lane) {
    const FieldWriter message = WriteResults(results);
    Failpoint("executor.answer", lane.descriptor());
    return lane.Send(message.header(), message.behind(), WaitForever);
  }

  // Finds the requests of a step, and makes those that are new.
  absl::Status Enter(StepOrder& order, std::vector<HeldRequest*>& held) MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    const auto model = models_.find(order.model);
    if (model == models_.end())
      return InvalidArgument("the front ordered a step of a model that is not loaded");
    for (StepOrder::Entry& entry : order.requests) {
      auto found = requests_.find(entry.id);
      if (entry.input.has_value() != (found == requests_.end()))
        return InvalidArgument("the front began a request twice, or continued one that is unknown");
      if (entry.input) {
        found = requests_
                    .emplace(entry.id, std::make_unique<HeldRequest>(
                                           model->second, *std::move(entry.input), Clock::Real()))
                    .first;
        models::Request& request = found->second->request;
        if (absl::Status status = model->second->Validate(request.input()); !status.ok())
          request.Finish(std::move(status));
      }
      if (found->second->in_step || found->second->model != model->second)
        return InvalidArgument("the front ordered two steps of a request at once");
      found->second->in_step = true;
      found->second->sink.SetExpires(entry.expires);
      held.push_back(found->second.get());
    }
    return absl::OkStatus();
  }

  // Forgets those that are done. After this the front may order their next step.
  void Leave(const StepOrder& order, const std::vector<HeldRequest*>& held) MILLRACE_EXCLUDES(mu_) {
    std::vector<std::unique_ptr<HeldRequest>> done;  // are destroyed without the lock
    const MutexLock lock(mu_);
    for (size_t i = 0; i < held.size(); ++i) {
      held[i]->in_step = false;
      if (!held[i]->request.outcome() && !held[i]->dropped) continue;
      const auto found = requests_.find(order.requests[i].id);
      done.push_back(std::move(found->second));
      requests_.erase(found);
    }
  }

  // Runs a step, and where it throws, each request by itself. An error means that this process can
  // run nothing more.
  absl::Status RunRequests(const std::vector<HeldRequest*>& held, runtime::WorkerContext& context) {
    const models::Model& model = *held.front()->model;
    std::vector<models::Request*> requests;
    for (HeldRequest* one : held) {
      if (!one->request.outcome()) requests.push_back(&one->request);
    }
    if (requests.empty()) return absl::OkStatus();
    absl::Status status = RunModel(model, requests, context);
    if (status.ok() || IsStickyError(Message(status))) return status;
    for (models::Request* request : requests) {
      if (request->outcome()) continue;  // it finished before the failure
      if (requests.size() > 1) status = RunModel(model, {&request, 1}, context);
      if (IsStickyError(Message(status))) return status;
      if (!status.ok()) request->Finish(status);
    }
    return absl::OkStatus();
  }

  absl::Status RunModel(const models::Model& model, std::span<models::Request* const> requests,
                        runtime::WorkerContext& context) {
    try {
      const std::unique_ptr<models::Batch> batch = model.Prepare(requests);
      if (batch == nullptr) return absl::OkStatus();
      Failpoint("executor.forward");
      host_.device().RunForward(context, *batch);
      batch->Complete();
      return absl::OkStatus();
    } catch (...) {
      return StepFailure(model);
    }
  }

  const std::string_view version_;
  ExecutorHost& host_;
  MessageSocket control_;
  MappedCrashPage page_;
  std::optional<FlightRecorder> recorder_;
  Mutex control_mu_;  // held while something is sent over it
  std::deque<MessageSocket> lanes_;
  std::optional<LoopHelpers> helpers_;

  Mutex mu_;
  CondVar loads_changed_;
  std::deque<LoadOrder> loads_ MILLRACE_GUARDED_BY(mu_);
  std::map<uint64_t, std::shared_ptr<const models::Model>> models_ MILLRACE_GUARDED_BY(mu_);
  std::map<uint64_t, std::unique_ptr<HeldRequest>> requests_ MILLRACE_GUARDED_BY(mu_);
  bool ending_ MILLRACE_GUARDED_BY(mu_) = false;
  // The model that lanes warm up, until the first step.
  bool serves_ MILLRACE_GUARDED_BY(mu_) = false;
  uint64_t warm_ups_ MILLRACE_GUARDED_BY(mu_) = 0;
  std::shared_ptr<const models::Model> warming_ MILLRACE_GUARDED_BY(mu_);
  size_t lanes_to_warm_ MILLRACE_GUARDED_BY(mu_) = 0;
  absl::Status warm_up_status_ MILLRACE_GUARDED_BY(mu_);
  absl::Status failure_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace

absl::Status RunExecutor(FileDescriptor control, std::string_view version, ExecutorHost& host) {
  return ModelExecutor(std::move(control), version, host).Run();
}

}  // namespace millrace::server
