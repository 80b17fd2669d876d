#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inference/grpc_service.grpc.pb.h"
#include "mps_runtime/base/mutex.h"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/config/command_line.h"

namespace millrace {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kElements = 64;

// One caller of the closed loop: the next call starts when the last has ended.
struct Caller {
  std::unique_ptr<grpc::ClientContext> context;
  inference::ModelInferResponse response;
  SteadyClock::time_point started;
  std::vector<double> milliseconds;  // the time of each call within the measured time
};

// Keeps a fixed number of calls in flight until its time is over. Run blocks; callers advance on
// gRPC's threads.
class ClosedLoop {
 public:
  ClosedLoop(const BenchNullCommand& command, std::shared_ptr<grpc::Channel> channel)
      : command_(command),
        stub_(inference::GRPCInferenceService::NewStub(channel)),
        callers_(static_cast<size_t>(command.concurrency)) {
    request_.set_model_name(command.model);
    auto& input = *request_.add_inputs();
    input.set_name("INPUT0");
    input.set_datatype("FP32");
    input.add_shape(kElements);
    request_.add_raw_input_contents(std::string(kElements * sizeof(float), '\0'));
  }

  // One call before the clock starts: connects, and tells at once what would fail them all.
  grpc::Status Probe() {
    grpc::ClientContext context;
    Prepare(command_.client, context);
    inference::ModelInferResponse response;
    return stub_->ModelInfer(&context, request_, &response);
  }

  // OK, or the first failure.
  grpc::Status Run() MILLRACE_EXCLUDES(mu_) {
    measure_from_ = SteadyClock::now() + command_.warmup;
    end_ = measure_from_ + command_.duration;
    {
      MutexLock lock(mu_);
      running_ = command_.concurrency;
    }
    for (Caller& caller : callers_) Call(caller);
    MutexLock lock(mu_);
    while (running_ > 0) done_.Wait(mu_);
    return failure_;
  }

  std::vector<double> SortedMilliseconds() const {
    std::vector<double> all;
    for (const Caller& caller : callers_)
      all.insert(all.end(), caller.milliseconds.begin(), caller.milliseconds.end());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  void Call(Caller& caller) {
    caller.context = std::make_unique<grpc::ClientContext>();
    Prepare(command_.client, *caller.context);
    caller.started = SteadyClock::now();
    stub_->async()->ModelInfer(
        caller.context.get(), &request_, &caller.response,
        [this, &caller](grpc::Status status) { OnDone(caller, std::move(status)); });
  }

  void OnDone(Caller& caller, grpc::Status status) MILLRACE_EXCLUDES(mu_) {
    const auto now = SteadyClock::now();
    if (status.ok() && caller.started >= measure_from_ && now <= end_) {
      caller.milliseconds.push_back(
          std::chrono::duration<double, std::milli>(now - caller.started).count());
    }
    if (status.ok() && now < end_) {
      Call(caller);
      return;
    }
    MutexLock lock(mu_);
    if (!status.ok() && failure_.ok()) failure_ = std::move(status);
    if (--running_ == 0) done_.NotifyAll();
  }

  const BenchNullCommand& command_;
  const std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
  inference::ModelInferRequest request_;
  SteadyClock::time_point measure_from_;
  SteadyClock::time_point end_;
  std::vector<Caller> callers_;

  Mutex mu_;
  CondVar done_;
  int running_ MILLRACE_GUARDED_BY(mu_) = 0;
  grpc::Status failure_ MILLRACE_GUARDED_BY(mu_);
};

double Percentile(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

}  // namespace

int RunBenchNull(const BenchNullCommand& command) {
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  ClosedLoop loop(command, *channel);
  if (const grpc::Status status = loop.Probe(); !status.ok()) {
    return Fail(Explain(status, command.client));
  }
  std::fprintf(stderr, "%d calls in flight for %.1f s after %.1f s of warm-up\n",
               command.concurrency, std::chrono::duration<double>(command.duration).count(),
               std::chrono::duration<double>(command.warmup).count());
  const grpc::Status status = loop.Run();
  if (!status.ok()) return Fail(Explain(status, command.client));
  const std::vector<double> latencies = loop.SortedMilliseconds();
  if (latencies.empty()) return Fail("no call ended within the time; try a longer --duration");
  std::printf("%.0f requests/s, p50 %.3f ms, p99 %.3f ms\n",
              static_cast<double>(latencies.size()) /
                  std::chrono::duration<double>(command.duration).count(),
              Percentile(latencies, 0.5), Percentile(latencies, 0.99));
  return kExitOk;
}

}  // namespace millrace
