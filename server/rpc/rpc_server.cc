#include "server/rpc/rpc_server.h"

#include <algorithm>
#include <thread>

namespace millrace::server {
namespace {

// One thread carries some 40,000 small calls a second. On few cores a second one costs more than it
// gives, since gRPC lets but one thread of a process wait for sockets and hands that over.
constexpr unsigned kCoresPerThread = 8;
constexpr unsigned kMostThreads = 4;
// Calls of a method that are awaited at once: those that arrive with one read of a socket.
constexpr int kAwaited = 4;

unsigned ThreadCount() {
  return std::clamp(std::thread::hardware_concurrency() / kCoresPerThread, 1U, kMostThreads);
}

}  // namespace

std::unique_ptr<RpcServer> RpcServer::Start(grpc::ServerBuilder& builder,
                                            const std::vector<RpcService*>& services) {
  std::unique_ptr<RpcServer> result(new RpcServer(services));
  for (RpcService* service : services) builder.RegisterService(service);
  result->unknown_methods_.Register(builder);
  for (unsigned i = 0; i < ThreadCount(); ++i) {
    result->threads_.push_back(
        std::make_unique<PollingThread>(builder.AddCompletionQueue(), result->background_));
  }
  result->server_ = builder.BuildAndStart();
  if (result->server_ != nullptr) {
    for (const auto& thread : result->threads_) {
      result->unknown_methods_.Await(*thread);
      for (RpcService* service : services) {
        for (size_t method = 0; method < service->methods(); ++method) {
          for (int i = 0; i < kAwaited; ++i) Rpc::Await(*service, method, *thread);
        }
      }
    }
  }
  for (const auto& thread : result->threads_) thread->Start();
  return result->server_ != nullptr ? std::move(result) : nullptr;
}

void RpcServer::Shutdown(std::chrono::system_clock::time_point deadline) {
  if (server_ != nullptr) server_->Shutdown(deadline);
  for (const auto& thread : threads_) thread->Stop();
}

}  // namespace millrace::server
