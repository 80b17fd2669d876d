#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "httplib.h"
#include "server/frontends/front_end.h"
#include "server/http_front_ends.h"
#include "server/port_servers.h"
#include "server/scheduling/step_timeline.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/http_client.h"
#include "tests/fakes/open_keys.h"
#include "tests/unit/server/frontends/http/translation_routes_fixture.h"
#include "tests/unit/server/frontends/toy_protocol/shout/shout.pb.h"
#include "tests/unit/server/requests/test_models.h"

// As server/frontends/built_in_front_ends.cc does it with the front ends that are built.
#define MILLRACE_FRONTEND(name)            \
  namespace millrace::front_ends::name {   \
  extern const server::FrontEnd kFrontEnd; \
  }
#include "server/frontends/built_front_ends.inc"
#undef MILLRACE_FRONTEND

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

#define MILLRACE_FRONTEND(name) &front_ends::name::kFrontEnd,
const FrontEnd* const kFrontEnds[] = {
#include "server/frontends/built_front_ends.inc"
};
#undef MILLRACE_FRONTEND

class StaticView final : public ServerView {
 public:
  std::string Version() const override { return "0"; }
  bool Live() const override { return true; }
  bool Ready() const override { return true; }
  std::vector<ModelStatusView> Models() const override { return {}; }
  std::optional<ModelStatusView> FindModel(std::string_view) const override { return {}; }
};

// A protocol that is added with a line and a folder of its own, and nothing else: see
// toy_lists_test for its methods, routes and settings.
class ToyProtocolTest : public ::testing::Test {
 protected:
  ToyProtocolTest() {
    config_.http_address = "127.0.0.1:0";
    config_.metrics_address = "";
    config_.trace_service_name = "127.0.0.1:0";
    backend_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = WrapTexts});
  }
  ~ToyProtocolTest() override {
    backend_.admission.Close();
    backend_.CloseScheduler();
    backend_.JoinWorkers();
    http_.Stop();
  }

  ServerConfig config_;
  TestBackend backend_;
  const StaticView view_;
  StepTimeline steps_{1};
  PollLoop session_loop_;
  const FrontEndParts parts_ = {.config = config_,
                                .services = backend_.services(),
                                .view = view_,
                                .metrics = backend_.metrics,
                                .steps = steps_,
                                .session_loop = session_loop_,
                                .repository = {},
                                .shelf = {},
                                .pulls = nullptr,
                                .started = [] { return true; }};
  const InheritedSockets sockets_;
  HttpFrontEnds http_{config_, sockets_, session_loop_};
};

TEST_F(ToyProtocolTest, ItsRoutesAreServedAndDescribed) {
  ASSERT_TRUE(http_.Start(parts_, kFrontEnds).ok());
  testing::HttpClient client(http_.port());
  const auto shouted = client.Post("/shout", "hey", "text/plain");
  ASSERT_TRUE(shouted);
  EXPECT_EQ(shouted->status, 200);
  EXPECT_EQ(shouted->body, "ENPT(HEY)");
  Await([this] { return backend_.admission.in_flight() == 0; });  // a call is counted when it ends
  EXPECT_EQ(backend_.Count("en-pt", Method::kHttpTranslate, absl::StatusCode::kOk), 1);
}

TEST_F(ToyProtocolTest, ItsNumbersAreOnThePageOfMetrics) {
  ASSERT_TRUE(http_.Start(parts_, kFrontEnds).ok());
  testing::HttpClient client(http_.port());
  ASSERT_TRUE(client.Post("/shout", "hey", "text/plain"));
  EXPECT_THAT(backend_.metrics.Text(), HasSubstr("millrace_shouted_bytes_total 3\n"));
}

// The protocol itself does not look at keys.
TEST_F(ToyProtocolTest, ATranslationNeedsAKeyWhereKeysAreRequired) {
  const auto keys = testing::OpenKeys({{"alice", Role::kUser, "the-key-of-alice"}});
  backend_.services().keys = keys.get();
  ASSERT_TRUE(http_.Start(parts_, kFrontEnds).ok());
  testing::HttpClient client(http_.port());
  const auto refused = client.Post("/shout", "hey", "text/plain");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 401);
  EXPECT_THAT(refused->body, HasSubstr("an API key is needed"));
  client.set_bearer_token_auth("the-key-of-alice");
  EXPECT_EQ(client.Post("/shout", "hey", "text/plain")->status, 200);
}

TEST_F(ToyProtocolTest, WhatItOffersForAPathOfAProtocolThatIsLeftOutIsServed) {
  ASSERT_TRUE(http_.Start(parts_, kFrontEnds).ok());
  testing::HttpClient client(http_.port());
  const auto shared = client.Post("/translate", "shout", "text/plain");
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->body, "SHOUT");
  const auto other = client.Post("/translate", "sing", "text/plain");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->status, 404);
}

TEST_F(ToyProtocolTest, ItsServicesAnswerCalls) {
  GrpcParts grpc;
  for (const FrontEnd* front_end : kFrontEnds) front_end->add_services(parts_, grpc);
  ASSERT_THAT(grpc.services, SizeIs(1));
  EXPECT_EQ(grpc.trailer, nullptr);
  toy::v1::ShoutMessage said;
  said.set_text("hey");
  testing::FakeCall call(said.SerializeAsString());
  call.Begin(*grpc.services.front(), "Say");
  EXPECT_TRUE(call.RunToEnd().ok());
  toy::v1::ShoutMessage answer;
  ASSERT_TRUE(answer.ParseFromString(call.reply()));
  EXPECT_EQ(answer.text(), "HEY");
}

TEST_F(ToyProtocolTest, ItsOwnPortIsServedUnlessItIsOff) {
  PortServers ports;
  ASSERT_TRUE(ports.Start(parts_, kFrontEnds, sockets_).ok());
  ASSERT_THAT(ports.Ports(), ElementsAre(Pair("shout", ::testing::Gt(0))));
  testing::HttpClient client(ports.Ports().front().second);
  const auto answer = client.Get("/hey");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "HEY");
  ports.Stop();

  config_.trace_service_name = "";
  PortServers off;
  ASSERT_TRUE(off.Start(parts_, kFrontEnds, sockets_).ok());
  EXPECT_THAT(off.Ports(), ElementsAre(Pair("shout", 0)));
}

}  // namespace
}  // namespace millrace::server
