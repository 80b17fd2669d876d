#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/worker_context.h"
#include "server/scheduling/device.h"
#include "server/scheduling/job.h"
#include "server/scheduling/scheduler.h"

namespace millrace::server {

// Runs one step of a batch of one model on the calling worker thread: Prepare, Forward under a
// permit, Complete. Ends the jobs that are done and requeues or parks the others. A step that
// throws is run again job by job, so that only the job at fault fails (INTERNAL). This is the only
// place that catches what libtorch throws on behalf of a request. Others may run parts of the
// forward's loops by way of `loops`, unless it is null; their time counts as the step's. The number
// of the worker is for the spans of sampled requests.
void RunStep(std::vector<std::unique_ptr<Job>> batch, Device& device,
             runtime::WorkerContext& context, Scheduler& scheduler, SharedLoop* loops,
             Clock& clock = Clock::Real(), int worker = 0);

// The part of a model's warm-up that a thread has to run.
enum class WarmUpExtent : uint8_t { kEveryShape, kOneForward };

// Runs a model's warm-up inputs on the calling thread and discards the results. INTERNAL when one
// fails.
absl::Status WarmUp(const models::Model& model, Device& device, runtime::WorkerContext& context,
                    WarmUpExtent extent = WarmUpExtent::kEveryShape);

}  // namespace millrace::server
