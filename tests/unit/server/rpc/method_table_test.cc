#include "server/rpc/method_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "mps_runtime/base/joining_thread.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

std::string Refusal(RpcTestServer& server, const char* path) {
  const grpc::Status status = Call(server.channel(), "request", nullptr, path);
  EXPECT_EQ(status.error_code(), StatusCode::UNIMPLEMENTED) << path;
  return status.error_message();
}

TEST(UnknownMethodsTest, SayWhatThereIsInstead) {
  RpcTestServer server({{"Synthesize", Echo}, {"StreamSynthesize", Echo}});
  EXPECT_EQ(Refusal(server, "/helloworld.Greeter/SayHello"),
            "the server has no service 'helloworld.Greeter'; it has millrace.v1.SynthesisService");
  for (const char* method : {"Speak", "SynthesizeTextStream"}) {
    EXPECT_EQ(Refusal(server, ("/millrace.v1.SynthesisService/" + std::string(method)).c_str()),
              "service millrace.v1.SynthesisService has no method '" + std::string(method) +
                  "' here; it has Synthesize, StreamSynthesize");
  }
  EXPECT_TRUE(Call(server.channel(), "request").ok());
}

TEST(UnknownMethodsTest, PathsOfAnyFormAreAnswered) {
  RpcTestServer server({{"Synthesize", Echo}});
  for (const char* path : {"/", "//", "/no.Method", "/millrace.v1.SynthesisService", "/a/b/c"})
    EXPECT_THAT(Refusal(server, path), HasSubstr("millrace.v1.SynthesisService")) << path;
  EXPECT_LT(Refusal(server, ("/" + std::string(4000, 'x')).c_str()).size(), 500U);
}

TEST(UnknownMethodsTest, ManyAtOnceAreAllAnswered) {
  RpcTestServer server({{"Synthesize", Echo}});
  std::vector<JoiningThread> callers;
  for (int i = 0; i < 20; ++i) {
    callers.emplace_back([&] {
      for (int j = 0; j < 10; ++j) Refusal(server, "/helloworld.Greeter/SayHello");
    });
  }
}

}  // namespace
}  // namespace millrace::server
