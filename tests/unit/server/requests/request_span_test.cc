#include "server/requests/request_span.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "server/tracing/tracer.h"
#include "tests/unit/server/requests/exchange.h"

namespace millrace::server {
namespace {

using tracing::Span;
using tracing::TraceRecord;

const tracing::Attribute* Find(const Span& span, std::string_view key) {
  for (const tracing::Attribute& attribute : span.attributes) {
    if (attribute.key == key) return &attribute;
  }
  return nullptr;
}
std::string Text(const Span& span, std::string_view key) {
  const tracing::Attribute* const found = Find(span, key);
  return found == nullptr ? "(none)" : std::get<std::string>(found->value);
}

class RequestSpanTest : public ::testing::TestWithParam<Kind> {
 protected:
  std::vector<TraceRecord> Take() { return queue_.Take(TimePoint()); }

  tracing::SpanCounts counts_;
  tracing::TraceQueue queue_{{}, counts_};
  const tracing::Tracer all_{tracing::Sampler(1, true), queue_, counts_};
  const tracing::Tracer none_{tracing::Sampler(0, true), queue_, counts_};
};

INSTANTIATE_TEST_SUITE_P(Kinds, RequestSpanTest, ::testing::ValuesIn(AllKinds()), NameOf);

TEST_P(RequestSpanTest, ARequestOfAnyKindHasItsSpans) {
  World world(GetParam());
  world.backend.services().tracer = &all_;
  EXPECT_EQ(world.NewExchange()->Run(), absl::OkStatus());
  world.AwaitQuiet();
  const auto records = Take();
  ASSERT_EQ(records.size(), 1U);
  const std::vector<Span>& spans = records[0].spans;
  const Span& server = spans[0];
  EXPECT_EQ(server.kind, Span::Kind::kServer);
  EXPECT_FALSE(server.failed);
  EXPECT_EQ(Text(server, "millrace.method"), ToString(GetParam().method));
  EXPECT_EQ(Text(server, "millrace.model"), "m");
  const std::string_view rpc = RpcMethod(GetParam().method);
  EXPECT_EQ(server.name, rpc.empty() ? ToString(GetParam().method) : rpc);
  EXPECT_EQ(Text(server, "rpc.system.name"), rpc.empty() ? "(none)" : "grpc");
  EXPECT_EQ(Text(server, rpc.empty() ? "millrace.status" : "rpc.response.status_code"), "OK");
  std::set<std::string> names;
  for (size_t i = 1; i < spans.size(); ++i) {
    names.insert(spans[i].name);
    EXPECT_EQ(spans[i].parent, server.id);
    EXPECT_GE(spans[i].begin, server.begin);
    EXPECT_LE(spans[i].end, server.end);
  }
  for (const char* name : {"queue", "prepare", "permit", "forward", "complete"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST_P(RequestSpanTest, ARequestThatIsNotSampledHasNone) {
  World world(GetParam());
  world.backend.services().tracer = &none_;
  EXPECT_EQ(world.NewExchange()->Run(), absl::OkStatus());
  world.AwaitQuiet();
  EXPECT_TRUE(Take().empty());
}

TEST_P(RequestSpanTest, AnUnknownModelIsTheClientsErrorAndADrainTheServers) {
  World world(GetParam());
  world.backend.services().tracer = &all_;
  world.RemoveModels();
  EXPECT_FALSE(world.NewExchange()->Run().ok());
  world.AwaitQuiet();
  auto records = Take();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_FALSE(records[0].spans[0].failed);
  EXPECT_EQ(Text(records[0].spans[0], "error.type"), "NOT_FOUND");
  EXPECT_EQ(Text(records[0].spans[0], "millrace.model"), "(none)");
  world.AddModels();
  world.backend.admission.Close();
  EXPECT_FALSE(world.NewExchange()->Run().ok());
  world.AwaitQuiet();
  records = Take();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0].spans[0].failed);
  EXPECT_EQ(Text(records[0].spans[0], "error.type"), "UNAVAILABLE");
}

TEST(RequestSpanNamesTest, RequestsOverHttpAreNamedByTheirRoute) {
  tracing::SpanCounts counts;
  tracing::TraceQueue queue({}, counts);
  const tracing::Tracer tracer(tracing::Sampler(1, true), queue, counts);
  auto span = RequestSpan::Begin(tracer,
                                 {.http_method = "POST",
                                  .http_route = "/v2/models/([^/]+)/infer",
                                  .url_path = "/v2/models/m/infer"},
                                 TimePoint());
  span->Finish(Method::kHttpInfer, absl::ResourceExhaustedError("full"), TimePoint(),
               {.request_id = "r", .client = "[::1]:5", .model = "m"});
  const auto records = queue.Take(TimePoint());
  ASSERT_EQ(records.size(), 1U);
  const Span& server = records[0].spans[0];
  EXPECT_EQ(server.name, "POST /v2/models/([^/]+)/infer");
  EXPECT_EQ(Text(server, "url.path"), "/v2/models/m/infer");
  EXPECT_EQ(Text(server, "client.address"), "::1");
  EXPECT_EQ(std::get<int64_t>(Find(server, "client.port")->value), 5);
  EXPECT_EQ(Text(server, "millrace.request_id"), "r");
  EXPECT_EQ(Text(server, "millrace.status"), "RESOURCE_EXHAUSTED");
  EXPECT_FALSE(server.failed);
}

}  // namespace
}  // namespace millrace::server
