// Want of memory costs one call.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "server/rpc/grpc_call.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace {

std::atomic<int> failing_calls = 0;  // so many allocations of a GrpcCall fail from now on

}  // namespace

// Replaces that of the whole program.
void* operator new(size_t size) {
  if (size == sizeof(millrace::server::GrpcCall) && failing_calls.load() > 0 &&
      failing_calls.fetch_sub(1) > 0)
    throw std::bad_alloc();
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace millrace::server {
namespace {

TEST(RpcMemoryTest, WithoutMemoryForTheNextCallItIsAwaitedWhenThisOneEnds) {
  RpcTestServer server({{"Synthesize", Echo}});
  RoundTrips(server.channel(), 1);
  for (int i = 0; i < 3; ++i) {
    failing_calls = 1;
    RoundTrips(server.channel(), 2);
    EXPECT_LE(failing_calls.load(), 0);
  }
}

TEST(RpcMemoryTest, ARefusalThatFailsEndsTheCallAllTheSame) {
  RpcTestServer server(
      {{"Synthesize", Echo}},
      {.max_incomplete_calls = 1, .on_incomplete_call_refused = [] { throw std::bad_alloc(); }});
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<ReaderWriter> calls;
  for (int i = 0; i < 2; ++i) {
    contexts.push_back(std::make_unique<Context>());
    calls.push_back(StartBothWays(server.channel(), *contexts.back(), kUnary));
    RoundTrips(server.channel(), 1);
  }
  EXPECT_EQ(calls[0]->Finish().error_code(), grpc::StatusCode::INTERNAL);
  contexts[1]->TryCancel();
  EXPECT_EQ(calls[1]->Finish().error_code(), grpc::StatusCode::CANCELLED);
  RoundTrips(server.channel(), 1);
}

TEST(RpcMemoryTest, AHandlerThatThrowsWhenItIsDoneHoldsNothingUp) {
  class Throws final : public ByteCall::Handler {
    void OnDone() override { throw std::runtime_error("no memory"); }
  };
  Throws handler;
  RpcTestServer server({{"Synthesize", [&](ByteCall& rpc) {
                           rpc.SetHandler(handler);
                           rpc.Finish(rpc.request());
                         }}});
  RoundTrips(server.channel(), 3);
}

}  // namespace
}  // namespace millrace::server
