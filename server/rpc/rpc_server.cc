#include "server/rpc/rpc_server.h"

#include <algorithm>
#include <utility>

#include "mps_runtime/base/cpu_info.h"

namespace millrace::server {
namespace {

// One thread carries some 40,000 small calls a second. On few cores a second thread costs more than
// it gains, since gRPC lets only one thread of a process wait for sockets and hands that role over.
constexpr int kCoresPerThread = 8;
constexpr int kMostThreads = 4;
// The calls that a thread awaits at once, as many as may arrive with one read of a socket.
constexpr int kAwaited = 64;

unsigned ThreadCount() {
  const int threads = std::clamp(runtime::AvailableCores() / kCoresPerThread, 1, kMostThreads);
  return static_cast<unsigned>(threads);
}

}  // namespace

std::unique_ptr<RpcServer> RpcServer::Start(grpc::ServerBuilder& builder,
                                            const std::vector<RpcService*>& services,
                                            const Options& options) {
  std::unique_ptr<RpcServer> result(new RpcServer(services));
  builder.RegisterAsyncGenericService(&result->service_);
  const unsigned threads = ThreadCount();
  Options of_thread = options;
  of_thread.max_incomplete_calls = std::max<size_t>(options.max_incomplete_calls / threads, 1);
  of_thread.refusals_per_second /= threads;
  for (unsigned i = 0; i < threads; ++i) {
    const auto& thread = result->threads_.emplace_back(
        std::make_unique<PollingThread>(builder.AddCompletionQueue(), result->background_));
    result->heartbeats_.emplace_back([&thread = *thread](Mail& mail) { thread.Post(mail); });
    result->acceptors_.push_back(
        std::make_unique<CallAcceptor>(result->service_, result->methods_, *thread, of_thread));
  }
  result->server_ = builder.BuildAndStart();
  if (result->server_ != nullptr) {
    for (const auto& acceptor : result->acceptors_) {
      for (int i = 0; i < kAwaited; ++i) acceptor->AwaitCall();
    }
  }
  for (const auto& thread : result->threads_) thread->Start();
  return result->server_ != nullptr ? std::move(result) : nullptr;
}

void RpcServer::FlushAnswers(std::chrono::system_clock::time_point deadline) {
  if (server_ == nullptr || std::exchange(is_flushed_, true)) return;
  // gRPC would wait until the deadline for requests that may never arrive.
  for (const auto& acceptor : acceptors_) acceptor->RefuseIncompleteCalls();
  for (const auto& acceptor : acceptors_) acceptor->AwaitAnswers(deadline);
}

void RpcServer::Shutdown(std::chrono::system_clock::time_point deadline) {
  FlushAnswers(deadline);
  if (server_ != nullptr) server_->Shutdown(deadline);
  for (const auto& thread : threads_) thread->Stop();
}

Duration RpcServer::PollingDelay(TimePoint now) {
  Duration longest = Duration::zero();
  for (Heartbeat& heartbeat : heartbeats_) longest = std::max(longest, heartbeat.Check(now));
  return longest;
}

}  // namespace millrace::server
