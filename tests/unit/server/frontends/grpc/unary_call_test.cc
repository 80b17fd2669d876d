#include "server/frontends/grpc/unary_call.h"

#include <gtest/gtest.h>

#include <new>
#include <utility>

#include "millrace/v1/synthesis.grpc.pb.h"
#include "tests/unit/server/frontends/test_server.h"

namespace millrace::server {
namespace {

// A call whose reply there is no memory for.
class HeavyCall final : public UnaryCall {
 public:
  HeavyCall(Services& services, ByteCall& call) : UnaryCall(services, call, Method::kSynthesize) {}

  void Emit(models::Output) override {}

 private:
  absl::StatusOr<Work> Decode() override {
    auto model = services().models.Find("joe", "");
    if (!model.ok()) return model.status();
    models::SynthesizeInput input;
    input.text = "a";
    input.voice = "first";
    return Work{*std::move(model), std::move(input)};
  }
  absl::Status Encode(ByteBuffer&) override { throw std::bad_alloc(); }
};

class HeavyService final : public RpcService {
 public:
  explicit HeavyService(Services& services) : RpcService("millrace.v1.SynthesisService") {
    Serve("Synthesize", [&services](ByteCall& call) { (new HeavyCall(services, call))->Start(); });
  }
};

TEST(UnaryCall, AReplyThatThereIsNoMemoryForCostsItsCallAlone) {
  TestServer parts;
  parts.Add(VoiceInfo("joe"),
            {.complete = [](models::Request& request) { request.Finish(absl::OkStatus()); }});
  HeavyService service(parts.services());
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  const auto server = RpcServer::Start(builder, {&service});
  const auto stub = v1::SynthesisService::NewStub(
      grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  for (int i = 0; i < 2; ++i) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    v1::SynthesizeResponse response;
    const grpc::Status status = stub->Synthesize(&context, {}, &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
    EXPECT_EQ(status.error_message(), std::bad_alloc().what());
  }
  EXPECT_EQ(parts.Count("joe", Method::kSynthesize, absl::StatusCode::kInternal), 2);
}

}  // namespace
}  // namespace millrace::server
