#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "nlohmann/json.hpp"
#include "server/frontends/openapi/openapi_document.h"
#include "server/frontends/openapi/route_table.h"
#include "server/http/http_server.h"

namespace millrace::server {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void Answer(const httplib::Request&, httplib::Response&) {}

class OpenApiTest : public ::testing::Test {
 protected:
  OpenApiTest() : server_({.address = "127.0.0.1:0"}) {
    server_.routes().Get("/docs", Answer);
    server_.routes().Get("/v2/models/([^/]+)(/versions/([^/]+))?", Answer);
    server_.routes().Get("/v2/models/stats", Answer);
    server_.routes().Post("/v2/glossaries", Answer);
    server_.routes().Delete("/v2/glossaries/([^/]+)", Answer);
  }
  HttpServer server_;
};

TEST_F(OpenApiTest, OnlyWhatIsServedIsDescribed) {
  const auto paths = nlohmann::json::parse(OpenApiDocument(server_.routes())).at("paths");
  EXPECT_TRUE(paths.at("/v2/models/{model}").contains("get"));
  EXPECT_EQ(paths.at("/v2/models/{model}/versions/{version}").at("get").at("parameters").size(),
            2U);
  EXPECT_TRUE(paths.at("/v2/glossaries").contains("post"));
  EXPECT_FALSE(paths.at("/v2/glossaries").contains("get"));
  EXPECT_TRUE(paths.at("/v2/glossaries/{glossary_id}").contains("delete"));
  EXPECT_FALSE(paths.contains("/v1/audio/speech"));
  EXPECT_THAT(OpenApiPage(server_.routes()), HasSubstr("GET /v2/models/{model}"));
  EXPECT_THAT(OpenApiPage(server_.routes()), Not(HasSubstr("/v1/audio/speech")));
}

TEST_F(OpenApiTest, WhatDiffersIsNamedBothWays) {
  server_.routes().Post("/of/tomorrow/([^/]+)", Answer);
  server_.routes().Post("/docs", Answer);
  const RouteAgreement agreement = CompareRoutes(server_.routes());
  EXPECT_THAT(agreement.undescribed, ElementsAre("POST /of/tomorrow/([^/]+)", "POST /docs"));
  EXPECT_EQ(nlohmann::json::parse(OpenApiDocument(server_.routes())).at("x-undescribed").size(),
            2U);
  EXPECT_THAT(agreement.unregistered, Contains("POST /v1/audio/speech"));
  EXPECT_THAT(agreement.unregistered, Not(Contains("GET /docs")));
}

TEST(RouteTableTest, NothingIsThereTwiceAndExamplesAreJson) {
  std::set<std::string> seen;
  for (const RouteDescription& route : RouteTable()) {
    EXPECT_TRUE(seen.insert(std::string(route.method) + std::string(route.path)).second)
        << route.path;
    EXPECT_FALSE(route.summary.empty()) << route.path;
    EXPECT_EQ(route.method == "POST", !route.body.empty()) << route.path;
    if (!route.body.empty()) {
      EXPECT_TRUE(nlohmann::json::accept(route.body)) << route.path;
    }
  }
}

}  // namespace
}  // namespace millrace::server
