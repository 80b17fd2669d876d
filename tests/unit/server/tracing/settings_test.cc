#include "server/tracing/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millrace::tracing {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using Environment = std::map<std::string, std::string, std::less<>>;

class TraceSettingsTest : public ::testing::Test {
 protected:
  std::optional<Settings> Read(const Flags& flags, const Environment& environment) {
    warnings_.clear();
    return ReadSettings(flags, environment,
                        [this](const std::string& warning) { warnings_.push_back(warning); });
  }
  // With a collector.
  Settings ReadOn(Environment environment, Flags flags = {}) {
    environment.emplace("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317");
    auto settings = Read(flags, environment);
    EXPECT_TRUE(settings);
    return settings.value_or(Settings());
  }

  std::vector<std::string> warnings_;
};

TEST_F(TraceSettingsTest, TracesAreOffUnlessACollectorIsNamed) {
  EXPECT_FALSE(Read({}, {}));
  EXPECT_FALSE(Read({}, {{"OTEL_SERVICE_NAME", "x"}, {"OTEL_TRACES_SAMPLER", "always_on"}}));
  EXPECT_TRUE(Read({.endpoint = "http://a:1"}, {}));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(TraceSettingsTest, TheDefaultsAreOpenTelemetrys) {
  const Settings settings = ReadOn({});
  EXPECT_EQ(settings.protocol, Protocol::kGrpc);
  EXPECT_EQ(settings.endpoint.host, "collector");
  EXPECT_EQ(settings.timeout, milliseconds(10'000));
  EXPECT_EQ(settings.sample_ratio, 1);
  EXPECT_TRUE(settings.follows_parent);
  EXPECT_EQ(settings.queue.max_spans, 2048U);
  EXPECT_EQ(settings.queue.batch_spans, 512U);
  EXPECT_EQ(settings.interval, milliseconds(5000));
  EXPECT_THAT(settings.resource, ElementsAre(Pair("service.name", "millrace")));
}

TEST_F(TraceSettingsTest, TheyCanBeSwitchedOff) {
  const Environment on = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"}};
  EXPECT_FALSE(Read({.endpoint = "off"}, on));
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"OTEL_SDK_DISABLED", "true"}, {"OTEL_TRACES_EXPORTER", "none"}}) {
    Environment environment = on;
    environment[name] = value;
    EXPECT_FALSE(Read({}, environment)) << name;
  }
}

TEST_F(TraceSettingsTest, ThePathOverHttpIsOtlps) {
  const auto path = [this](const char* variable, const char* url) {
    const auto settings = Read({}, {{variable, url}});
    return settings ? settings->endpoint.path : "none";
  };
  constexpr char kAll[] = "OTEL_EXPORTER_OTLP_ENDPOINT";
  constexpr char kTraces[] = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  EXPECT_EQ(path(kAll, "http://a:4318"), "/v1/traces");
  EXPECT_EQ(path(kAll, "http://a:4318/otlp/"), "/otlp/v1/traces");
  EXPECT_EQ(path(kTraces, "http://a:4318/mine"), "/mine");
  EXPECT_EQ(path(kTraces, "http://a:4318"), "/");
  EXPECT_EQ(Read({.endpoint = "http://a:4318/v1/traces"}, {})->endpoint.path, "/v1/traces");
}

TEST_F(TraceSettingsTest, TheProtocolIsAsItIsSaidOrByThePort) {
  constexpr char kProtocol[] = "OTEL_EXPORTER_OTLP_PROTOCOL";
  EXPECT_EQ(Read({.endpoint = "http://a:4317"}, {})->protocol, Protocol::kGrpc);
  EXPECT_EQ(Read({.endpoint = "http://a:4318"}, {})->protocol, Protocol::kHttp);
  EXPECT_EQ(Read({.endpoint = "http://a:4318"}, {{kProtocol, "grpc"}})->protocol, Protocol::kGrpc);
  EXPECT_EQ(Read({.endpoint = "http://a:1", .protocol = Protocol::kHttp}, {{kProtocol, "grpc"}})
                ->protocol,
            Protocol::kHttp);
  EXPECT_EQ(Read({.endpoint = "http://a:4317"}, {{kProtocol, "http/json"}})->protocol,
            Protocol::kGrpc);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("OTEL_EXPORTER_OTLP_PROTOCOL=http/json")));
}

TEST_F(TraceSettingsTest, SamplersAreOpenTelemetrys) {
  const auto sampler = [this](const char* name, const char* argument) {
    const Settings settings =
        ReadOn({{"OTEL_TRACES_SAMPLER", name}, {"OTEL_TRACES_SAMPLER_ARG", argument}});
    return std::pair(settings.sample_ratio, settings.follows_parent);
  };
  EXPECT_EQ(sampler("always_on", ""), std::pair(1.0, false));
  EXPECT_EQ(sampler("always_off", ""), std::pair(0.0, false));
  EXPECT_EQ(sampler("traceidratio", "0.25"), std::pair(0.25, false));
  EXPECT_EQ(sampler("parentbased_always_off", ""), std::pair(0.0, true));
  EXPECT_EQ(sampler("parentbased_traceidratio", "0.01"), std::pair(0.01, true));
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_EQ(sampler("parentbased_traceidratio", "2"), std::pair(1.0, true));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("OTEL_TRACES_SAMPLER_ARG=2")));
  EXPECT_EQ(sampler("jaeger_remote", ""), std::pair(1.0, true));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("OTEL_TRACES_SAMPLER=jaeger_remote")));
}

TEST_F(TraceSettingsTest, FlagsWin) {
  const Settings settings = ReadOn(
      {{"OTEL_TRACES_SAMPLER", "always_off"}, {"OTEL_SERVICE_NAME", "theirs"}},
      {.endpoint = "https://mine", .protocol = {}, .sample_ratio = 0.5, .service_name = "mine"});
  EXPECT_EQ(settings.endpoint.host, "mine");
  EXPECT_TRUE(settings.endpoint.tls);
  EXPECT_EQ(settings.sample_ratio, 0.5);
  EXPECT_TRUE(settings.follows_parent);
  EXPECT_THAT(settings.resource, ElementsAre(Pair("service.name", "mine")));
}

TEST_F(TraceSettingsTest, HeadersAndResourcesAreLists) {
  const Settings settings = ReadOn(
      {{"OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20a%2Cb, x-tenant = t "},
       {"OTEL_RESOURCE_ATTRIBUTES", "service.name=theirs,deployment.environment.name=%C3%A9"}});
  EXPECT_THAT(settings.headers,
              ElementsAre(Pair("authorization", "Bearer a,b"), Pair("x-tenant", "t")));
  EXPECT_THAT(settings.resource, UnorderedElementsAre(Pair("service.name", "theirs"),
                                                      Pair("deployment.environment.name", "é")));
  EXPECT_THAT(warnings_, IsEmpty());
}

// A warning about headers must not tell the secret that they may hold.
TEST_F(TraceSettingsTest, ListsThatCannotBeReadAreIgnored) {
  for (const char* list : {"secret", "a=%zz", "=secret", "a=secret%0D%0Ab: c", "a=%ff"}) {
    const Settings settings = ReadOn({{"OTEL_EXPORTER_OTLP_HEADERS", list}});
    EXPECT_THAT(settings.headers, IsEmpty()) << list;
    ASSERT_EQ(warnings_.size(), 1U) << list;
    EXPECT_THAT(warnings_[0], HasSubstr("OTEL_EXPORTER_OTLP_HEADERS"));
    EXPECT_EQ(warnings_[0].find("secret"), std::string::npos);
  }
}

TEST_F(TraceSettingsTest, NumbersOfTheBatch) {
  Settings settings = ReadOn({{"OTEL_BSP_MAX_QUEUE_SIZE", "100"},
                              {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "200"},
                              {"OTEL_BSP_SCHEDULE_DELAY", "250"},
                              {"OTEL_EXPORTER_OTLP_TIMEOUT", "1500"},
                              {"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "500"}});
  EXPECT_EQ(settings.queue.max_spans, 100U);
  EXPECT_EQ(settings.queue.batch_spans, 100U);
  EXPECT_EQ(settings.interval, milliseconds(250));
  EXPECT_EQ(settings.timeout, milliseconds(500));
  settings = ReadOn({{"OTEL_BSP_MAX_QUEUE_SIZE", "-1"}, {"OTEL_BSP_SCHEDULE_DELAY", "soon"}});
  EXPECT_EQ(settings.queue.max_spans, 2048U);
  EXPECT_EQ(settings.interval, milliseconds(5000));
  EXPECT_EQ(warnings_.size(), 2U);
}

TEST_F(TraceSettingsTest, AnEndpointThatCannotBeReadMeansNoTraces) {
  EXPECT_FALSE(Read({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"}}));
  EXPECT_THAT(warnings_, Contains(HasSubstr("OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317'")));
}

}  // namespace
}  // namespace millrace::tracing
