#include "server/tracing/endpoint.h"

#include <gtest/gtest.h>

namespace millrace::tracing {
namespace {

TEST(EndpointTest, ReadsAUrl) {
  auto endpoint = ParseEndpoint("http://collector:4317");
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  EXPECT_FALSE(endpoint->tls);
  EXPECT_EQ(endpoint->host, "collector");
  EXPECT_EQ(endpoint->port, 4317);
  EXPECT_EQ(endpoint->path, "");
  endpoint = ParseEndpoint("https://[::1]:1/otlp/v1/traces");
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  EXPECT_TRUE(endpoint->tls);
  EXPECT_EQ(endpoint->host, "::1");
  EXPECT_EQ(endpoint->port, 1);
  EXPECT_EQ(endpoint->path, "/otlp/v1/traces");
}

TEST(EndpointTest, KnowsThePortsOfTheSchemes) {
  EXPECT_EQ(ParseEndpoint("http://a/")->port, 80);
  EXPECT_EQ(ParseEndpoint("https://a")->port, 443);
  EXPECT_EQ(ParseEndpoint("https://[::1]")->port, 443);
}

TEST(EndpointTest, RefusesAnythingElse) {
  for (const char* url : {"", "collector:4317", "ftp://a", "http://", "http://:4317", "http://a:0",
                          "http://a:x", "http://a:99999", "http://a?b", "http://u@a", "http://a#b",
                          "http://a b", "http://[::1", "http://a/\r\nb"})
    EXPECT_FALSE(ParseEndpoint(url).ok()) << url;
}

}  // namespace
}  // namespace millrace::tracing
