#include "server/frontends/grpc/unary_call.h"

#include <gtest/gtest.h>

#include <new>
#include <utility>

#include "millrace/v1/synthesis.grpc.pb.h"
#include "tests/unit/server/frontends/test_server.h"

namespace millrace::server {
namespace {

// A task whose reply there is no memory for.
struct HeavyTask {
  static constexpr Method kMethod = Method::kSynthesize;

  static absl::StatusOr<Work> Decode(const ByteBuffer&, const Services& services) {
    auto model = services.models.Find("joe", "");
    if (!model.ok()) return model.status();
    models::SynthesizeInput input;
    input.text = "a";
    input.voice = "first";
    return Work{*std::move(model), std::move(input)};
  }
  static void Emit(models::Output, const RequestRun&) {}
  static absl::Status End(const absl::Status&, const RequestRun&, ByteBuffer&) {
    throw std::bad_alloc();
  }
};

class HeavyService final : public RpcService {
 public:
  explicit HeavyService(Services& services) : RpcService("millrace.v1.SynthesisService") {
    Serve("Synthesize", UnaryCall<HeavyTask>::Serving(services));
  }
};

TEST(UnaryCallTest, AReplyThatThereIsNoMemoryForCostsItsCallAlone) {
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
