#include "server/scheduling/step.h"

#include <exception>
#include <span>
#include <utility>

#include "models/core/strings.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {
namespace {

// Messages of libtorch run to pages of stack trace: the first line says it.
std::string FirstLine(const char* text) {
  std::string line(text);
  line.resize(std::min(line.find('\n'), line.size()));
  return line;
}

// Delivers what the step decided for each job.
void Settle(std::vector<std::unique_ptr<Job>> batch, Scheduler& scheduler) {
  for (auto& job : batch) {
    if (const auto& outcome = job->request.outcome()) {
      const absl::Status status = *outcome;
      FinishJob(std::move(job), status);
    } else if (job->request.ShouldStop()) {
      const absl::Status status = StopStatus(job->request);
      FinishJob(std::move(job), status);
    } else if (job->reply.Congested()) {
      Reply& reply = job->reply;
      reply.Park(std::move(job));
    } else {
      scheduler.Requeue(std::move(job));
    }
  }
}

// The message of what was thrown, or empty.
std::string TryStep(const models::Model& model, std::span<models::Request* const> requests,
                    Device& device, runtime::WorkerContext& context, ModelMetrics& metrics,
                    Clock& clock) {
  try {
    const std::unique_ptr<models::Batch> step = model.Prepare(requests);
    if (step != nullptr) {
      const TimePoint start = clock.Now();
      const Duration waited = device.RunForward(context, *step);
      metrics.compute_seconds.Observe(Seconds(clock.Now() - start - waited));
      metrics.permit_wait_seconds.Observe(Seconds(waited));
      step->Complete();
    }
    return {};
  } catch (const std::exception& error) {
    const std::string line = FirstLine(error.what());
    return line.empty() ? "unknown failure" : line;
  } catch (...) {
    return "unknown failure";
  }
}

class NullSink final : public models::OutputSink {
 public:
  void Emit(models::Output) override {}
};

}  // namespace

void RunStep(std::vector<std::unique_ptr<Job>> batch, Device& device,
             runtime::WorkerContext& context, Scheduler& scheduler, Clock& clock) {
  const std::shared_ptr<ServedModel> model = batch.front()->model;
  ModelMetrics& metrics = model->metrics();
  const TimePoint start = clock.Now();
  std::vector<models::Request*> requests;
  requests.reserve(batch.size());
  for (const auto& job : batch) {
    metrics.queue_seconds.Observe(Seconds(start - job->enqueued));
    requests.push_back(&job->request);
  }
  metrics.batch_size.Observe(static_cast<double>(batch.size()));

  std::string error = TryStep(model->model(), requests, device, context, metrics, clock);
  if (!error.empty()) {
    for (models::Request*& request : requests) {
      if (request->outcome()) continue;  // it was finished before the failure
      if (requests.size() > 1)
        error = TryStep(model->model(), {&request, 1}, device, context, metrics, clock);
      if (!error.empty()) {
        request->Finish(absl::InternalError(
            StrCat("model '", model->info().name, "' failed on this request: ", error)));
      }
    }
  }

  Scheduler::StepReport report{.jobs = batch.size(), .took = clock.Now() - start};
  for (const auto& job : batch) {
    job->service += report.took;
    job->work += report.took / static_cast<Duration::rep>(batch.size());
    if (const auto& outcome = job->request.outcome(); outcome && outcome->ok()) {
      ++report.finished;
      report.finished_work += job->work;
    }
  }
  scheduler.ReportStep(model->queue(), report);
  Settle(std::move(batch), scheduler);
}

absl::Status WarmUp(const models::Model& model, Device& device, runtime::WorkerContext& context) {
  const auto failed = [&model](std::string_view why) {
    return absl::InternalError(StrCat("warm-up of model '", model.info().name, "' failed: ", why));
  };
  try {
    for (models::Input& input : model.WarmupInputs()) {
      NullSink sink;
      models::Request request(std::move(input), TimePoint::max(), sink);
      models::Request* requests[] = {&request};
      while (!request.outcome()) {
        const std::unique_ptr<models::Batch> step = model.Prepare(requests);
        if (step == nullptr) break;
        device.RunForward(context, *step);
        step->Complete();
      }
      if (request.outcome() && !request.outcome()->ok()) return failed(Message(*request.outcome()));
    }
  } catch (const std::exception& error) {
    return failed(FirstLine(error.what()));
  } catch (...) {
    return failed("unknown failure");
  }
  return absl::OkStatus();
}

}  // namespace millrace::server
