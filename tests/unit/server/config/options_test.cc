#include "server/config/options.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

namespace millrace {
namespace {

TEST(OptionsTest, NamesFollowFromTheRow) {
  EXPECT_EQ(FlagOf("queue-size"), "--queue-size");
  EXPECT_EQ(VariableOf("queue-size"), "MILLRACE_QUEUE_SIZE");
  EXPECT_EQ(KeyOf("queue-size"), "queue_size");
}

TEST(OptionsTest, EachRowIsCompleteAndUnique) {
  std::set<std::string> names;
  for (const Option& option : ServeOptions()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_FALSE(option.allowed.empty()) << option.name;
    EXPECT_FALSE(option.placeholder.empty()) << option.name;
  }
}

// A row that writes a field other than the one it reads, or that cannot read its own text, fails
// here.
TEST(OptionsTest, SetReadsWhatGetWrites) {
  const ServerConfig defaults;
  for (const Option& option : ServeOptions()) {
    ServerConfig config;
    EXPECT_TRUE(option.set(config, option.get(defaults)))
        << option.name << " = " << option.get(defaults);
    EXPECT_EQ(config, defaults) << option.name;
  }
}

struct Example {
  const char* name;
  const char* value;
};

class OptionExampleTest : public ::testing::TestWithParam<Example> {};

TEST_P(OptionExampleTest, ChangesItsOwnFieldAlone) {
  const Option* option = FindOption(GetParam().name);
  ASSERT_NE(option, nullptr);
  const ServerConfig defaults;
  ServerConfig config;
  ASSERT_TRUE(option->set(config, GetParam().value));
  EXPECT_EQ(option->get(config), GetParam().value);
  for (const Option& other : ServeOptions()) {
    if (other.name == option->name) continue;
    EXPECT_EQ(other.get(config), other.get(defaults)) << other.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OptionExampleTest,
    ::testing::Values(
        Example{"models", "/srv/models,voice=/mnt/models"}, Example{"device", "mps"},
        Example{"workers", "31"}, Example{"mode", "encode-lock"}, Example{"max-in-flight", "4"},
        Example{"safety-profile", "p.json"}, Example{"i-accept-unsafe-concurrency", "true"},
        Example{"intra-op-threads", "3"}, Example{"queue-size", "65536"},
        Example{"graph-cache", "frozen"}, Example{"graph-cache-new-shape", "refuse"},
        Example{"graph-cache-entries", "9"}, Example{"graph-cache-bytes", "2GiB"},
        Example{"unload-idle-after", "10m"}, Example{"model-memory-budget", "8GiB"},
        Example{"executors", "2"}, Example{"spare-executors", "1"},
        Example{"executor-max-age", "1h"}, Example{"executor-max-growth", "256MiB"},
        Example{"crash-directory", "/var/crashes"}, Example{"cpu-isa", "avx2"},
        Example{"voice-aliases", "alloy=joe,nova=a:0.5+b"},
        Example{"require-libtorch", "2.15.0+cpu"}, Example{"grpc-address", "[::1]:0"},
        Example{"http-address", "off"}, Example{"console", "false"},
        Example{"metrics-address", "localhost:9000"}, Example{"port-file", "ports.json"},
        Example{"trace-endpoint", "https://collector:4318"}, Example{"trace-protocol", "grpc"},
        Example{"trace-sample-ratio", "0.01"}, Example{"trace-service-name", "speech"},
        Example{"reflection", "false"}, Example{"insecure", "true"}, Example{"tls-cert", "c.pem"},
        Example{"tls-key", "k.pem"}, Example{"allowed-host", "tts.example.org,.example.net"},
        Example{"cors-origin", "https://chat.example.org,http://[::1]:3000"},
        Example{"tls-client-ca", "ca.pem"}, Example{"api-keys", "keys"},
        Example{"wyoming-address", "127.0.0.1:10200"}, Example{"wyoming-anonymous", "true"},
        Example{"policy", "/etc/policy.toml"}, Example{"max-message-bytes", "1KiB"},
        Example{"max-connections", "2"}, Example{"max-streams-per-connection", "7"},
        Example{"max-incomplete-calls", "9"}, Example{"refusals-per-second", "0"},
        Example{"max-connections-per-peer", "2"}, Example{"max-translate-characters", "2"},
        Example{"handshake-timeout", "3s"}, Example{"idle-connection-timeout", "1m"},
        Example{"max-connection-age", "10m"}, Example{"max-connection-age-grace", "1h"},
        Example{"max-header-bytes", "16KiB"}, Example{"max-resets-per-second", "5"},
        Example{"max-control-frames-per-second", "500"}, Example{"keepalive-min-interval", "1m"},
        Example{"max-request-time", "90s"}, Example{"write-stall-timeout", "1ms"},
        Example{"load-report", "binary"}, Example{"load-target-wait", "200ms"},
        Example{"max-buffered-bytes", "64KiB"}, Example{"max-websockets", "2"},
        Example{"max-websockets-per-peer", "2"}, Example{"max-websocket-message-bytes", "64KiB"},
        Example{"websocket-idle-timeout", "1m"}, Example{"drain-delay", "10s"},
        Example{"drain-timeout", "2m"}, Example{"log-level", "off"}, Example{"log-format", "json"}),
    [](const auto& info) {
      std::string name = KeyOf(info.param.name);
      return name;
    });

// The examples of gRPC's libraries do so; a ping that comes a little early must not count either.
TEST(OptionsTest, ClientsMayPingEveryTenSeconds) {
  EXPECT_LE(ServerConfig().keepalive_min_interval, std::chrono::seconds(9));
}

TEST(OptionsTest, CardsAreNamedByNumber) {
  ServerConfig config;
  ASSERT_TRUE(FindOption("device")->set(config, "cuda:1,cuda:0"));
  EXPECT_EQ(config.device, runtime::DeviceType::kCuda);
  EXPECT_EQ(config.device_numbers, (std::vector<int>{1, 0}));
  EXPECT_EQ(FindOption("device")->get(config), "cuda:1,cuda:0");
  ASSERT_TRUE(FindOption("device")->set(config, "auto"));
  EXPECT_EQ(config, ServerConfig());
}

TEST(OptionsTest, NoOriginIsAllowedUnlessOneIsGiven) {
  EXPECT_TRUE(ServerConfig().cors_origins.empty());
  ServerConfig config;
  ASSERT_TRUE(FindOption("cors-origin")->set(config, "*"));
  EXPECT_EQ(config.cors_origins, std::vector<std::string>{"*"});
  ASSERT_TRUE(FindOption("cors-origin")->set(config, "off"));
  EXPECT_EQ(config, ServerConfig());
}

TEST(OptionsTest, NoNameStandsForAVoiceWhenAliasesAreOff) {
  ServerConfig config;
  ASSERT_TRUE(FindOption("voice-aliases")->set(config, "off"));
  EXPECT_FALSE(config.voice_aliases);
  EXPECT_EQ(FindOption("voice-aliases")->get(config), "off");
  ASSERT_TRUE(FindOption("voice-aliases")->set(config, "auto"));
  EXPECT_EQ(config, ServerConfig());
}

TEST(OptionsTest, RefuseWhatIsOutsideTheirRange) {
  constexpr Example kBad[] = {{"models", ""},
                              {"models", "/srv/models,"},
                              {"models", "a b=/mnt/models"},
                              {"workers", "-1"},
                              {"workers", "32"},
                              {"workers", "two"},
                              {"mode", "Parallel"},
                              {"device", "gpu"},
                              {"device", "cuda:"},
                              {"device", "cuda:64"},
                              {"device", "cuda:01"},
                              {"device", "mps:0"},
                              {"device", "cuda:0,cpu"},
                              {"device", "cuda:1,cuda:1"},
                              {"graph-cache", "off"},
                              {"graph-cache-new-shape", "compile"},
                              {"queue-size", "0"},
                              {"queue-size", "-1"},
                              {"queue-size", "65537"},
                              {"grpc-address", ""},
                              {"grpc-address", "unix:"},
                              {"http-address", "unix://host/run/millrace.sock"},
                              {"grpc-address", "off"},
                              {"grpc-address", "host"},
                              {"grpc-address", "host:65536"},
                              {"http-address", "::1:8"},
                              {"drain-delay", "5"},
                              {"max-message-bytes", "0"},
                              {"unload-idle-after", "-1s"},
                              {"unload-idle-after", "60"},
                              {"unload-idle-after", "1000000000000000000s"},
                              {"unload-idle-after", "721h"},
                              {"model-memory-budget", "-1"},
                              {"model-memory-budget", "1000000000000000000"},
                              {"model-memory-budget", "8 GB"},
                              {"log-level", "INFO"},
                              {"insecure", "maybe"},
                              {"trace-endpoint", "collector:4317"},
                              {"trace-protocol", "http/json"},
                              {"trace-sample-ratio", "1.1"},
                              {"trace-service-name", "a\nb"},
                              {"max-request-time", "0s"},
                              {"allowed-host", "tts.example.org:8000"},
                              {"allowed-host", "a.example,*"},
                              {"allowed-host", "a.example,"},
                              {"allowed-host", "."},
                              {"allowed-host", "a.example, b.example"},
                              {"cors-origin", "example.org"},
                              {"cors-origin", "null"},
                              {"cors-origin", "*,https://example.org"},
                              {"cors-origin", "https://example.org/"},
                              {"cors-origin", "https://Example.org"},
                              {"cors-origin", "https://example.org,"},
                              {"cors-origin", "https://a.example, https://b.example"},
                              {"cors-origin", "https://user@example.org"},
                              {"cors-origin", "https://example.org\r\nX: y"},
                              {"voice-aliases", ""},
                              {"voice-aliases", "alloy"},
                              {"voice-aliases", "alloy="},
                              {"voice-aliases", "alloy=joe,"},
                              {"voice-aliases", "alloy=joe=jane"},
                              {"voice-aliases", "alloy=joe,alloy=jane"},
                              {"voice-aliases", "al loy=joe"},
                              {"voice-aliases", "alloy=jo\xC3\xA9"}};
  for (const Example& bad : kBad) {
    ServerConfig config;
    EXPECT_FALSE(FindOption(bad.name)->set(config, bad.value)) << bad.name << " = " << bad.value;
    EXPECT_EQ(config, ServerConfig()) << bad.name;
  }
}

}  // namespace
}  // namespace millrace
