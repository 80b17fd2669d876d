#include "server/http/cors.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "httplib.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "tests/fakes/http_client.h"

namespace millrace {
namespace {

constexpr char kPage[] = "https://chat.example.org";

// A server with an API, a probe and a handler that fails, asked by pages of an origin.
class CorsTest : public ::testing::Test {
 protected:
  void Serve(std::vector<std::string> origins) {
    HttpServer::Options options;
    options.address = "127.0.0.1:0";
    options.max_body_bytes = 100;
    options.cors_origins = std::move(origins);
    server_ = std::make_unique<HttpServer>(options);
    const auto answer = [](const httplib::Request&, httplib::Response& response) {
      response.set_content("hi", "text/plain");
    };
    server_->routes().Post("/speak", answer);
    server_->routes().Get("/voices", answer);
    server_->routes().Get("/fails", [](const httplib::Request&, httplib::Response&) {
      throw std::runtime_error("x");
    });
    server_->routes().Get("/stream", [](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider("text/plain", [](size_t, httplib::DataSink& sink) {
        sink.write("hi", 2);
        sink.done();
        return true;
      });
    });
    server_->ReserveThreadsFor("/health/");
    server_->routes().Get("/health/live", answer);
    ASSERT_TRUE(server_->Start().ok());
  }
  httplib::Result Ask(const std::string& method, const std::string& path, httplib::Headers headers,
                      const std::string& body = "") {
    httplib::Request request;
    request.method = method;
    request.path = path;
    request.headers = std::move(headers);
    request.body = body;
    return testing::HttpClient(server_->port()).send(request);
  }
  httplib::Result Preflight(const std::string& origin, const std::string& path,
                            const std::string& names = "authorization, x-stainless-lang") {
    return Ask("OPTIONS", path,
               {{"Origin", origin},
                {"Access-Control-Request-Method", "POST"},
                {"Access-Control-Request-Headers", names}});
  }
  static bool IsShared(const httplib::Result& answer) {
    return answer->has_header("Access-Control-Allow-Origin");
  }

  std::unique_ptr<HttpServer> server_;
};

TEST_F(CorsTest, WithoutOriginsNothingIsShared) {
  Serve({});
  EXPECT_FALSE(IsShared(Ask("GET", "/voices", {{"Origin", kPage}})));
  const auto preflight = Preflight(kPage, "/speak");
  EXPECT_EQ(preflight->status, 204);
  EXPECT_EQ(preflight->get_header_value("Allow"), "POST, OPTIONS");
  EXPECT_FALSE(IsShared(preflight));
}

TEST_F(CorsTest, APageOfAnAllowedOriginMayAskAndRead) {
  Serve({"http://localhost:3000", kPage});
  const auto preflight = Preflight(kPage, "/speak");
  EXPECT_EQ(preflight->status, 204);
  EXPECT_EQ(preflight->body, "");
  EXPECT_EQ(preflight->get_header_value("Access-Control-Allow-Origin"), kPage);
  EXPECT_EQ(preflight->get_header_value("Access-Control-Allow-Methods"), "POST");
  EXPECT_EQ(preflight->get_header_value("Access-Control-Allow-Headers"),
            "authorization, x-stainless-lang");
  EXPECT_EQ(preflight->get_header_value("Access-Control-Max-Age"), "600");
  EXPECT_EQ(preflight->get_header_value("Vary"), "Origin");
  EXPECT_FALSE(preflight->has_header("Access-Control-Allow-Credentials"));
  const auto answer =
      Ask("POST", "/speak", {{"Origin", kPage}, {"Content-Type", "text/plain"}}, "x");
  EXPECT_EQ(answer->body, "hi");
  EXPECT_EQ(answer->get_header_value("Access-Control-Allow-Origin"), kPage);
  EXPECT_EQ(answer->get_header_value("Access-Control-Expose-Headers"),
            "X-Request-Id, Retry-After, Retry-After-Ms, RateLimit, RateLimit-Policy, Warning, "
            "Inference-Header-Content-Length");
  EXPECT_TRUE(IsShared(Ask("GET", "/stream", {{"Origin", kPage}})));
}

TEST_F(CorsTest, ThePageMayReadErrorsToo) {
  Serve({kPage});
  EXPECT_TRUE(IsShared(Ask("GET", "/fails", {{"Origin", kPage}})));
  const auto large = Ask("POST", "/speak", {{"Origin", kPage}, {"Content-Type", "text/plain"}},
                         std::string(101, 'x'));
  EXPECT_EQ(large->status, 413);
  EXPECT_TRUE(IsShared(large));
}

TEST_F(CorsTest, OtherOriginsMayNot) {
  Serve({kPage});
  for (const char* origin :
       {"https://evil.example", "https://chat.example.org.evil.example", "http://chat.example.org",
        "https://chat.example.org:8443", "null", "*"}) {
    const auto preflight = Preflight(origin, "/speak");
    EXPECT_EQ(preflight->status, 403) << origin;
    EXPECT_FALSE(IsShared(preflight)) << origin;
    const auto answer = Ask("GET", "/voices", {{"Origin", origin}});
    EXPECT_EQ(answer->status, 200) << origin;
    EXPECT_FALSE(IsShared(answer)) << origin;
    EXPECT_EQ(answer->get_header_value("Vary"), "Origin");
  }
  EXPECT_FALSE(IsShared(Ask("GET", "/voices", {})));
}

TEST_F(CorsTest, AStarIsEveryOrigin) {
  Serve({"*"});
  EXPECT_EQ(Preflight("https://any.example", "/speak")->status, 204);
  const auto answer = Ask("GET", "/voices", {{"Origin", "null"}});
  EXPECT_EQ(answer->get_header_value("Access-Control-Allow-Origin"), "*");
  EXPECT_FALSE(answer->has_header("Vary"));
}

TEST_F(CorsTest, OnlyTheApiIsShared) {
  Serve({"*"});
  EXPECT_FALSE(IsShared(Ask("GET", "/health/live", {{"Origin", kPage}})));
  EXPECT_FALSE(IsShared(Preflight(kPage, "/health/live")));
  EXPECT_FALSE(IsShared(Ask("GET", "/nothing", {{"Origin", kPage}})));
  EXPECT_EQ(Preflight(kPage, "/nothing")->status, 404);
  // Without the headers of a preflight it only asks for the methods.
  for (const httplib::Headers& headers :
       {httplib::Headers{{"Origin", kPage}},
        httplib::Headers{{"Access-Control-Request-Method", "POST"}}}) {
    const auto answer = Ask("OPTIONS", "/speak", headers);
    EXPECT_EQ(answer->status, 204);
    EXPECT_EQ(answer->get_header_value("Allow"), "POST, OPTIONS");
    EXPECT_FALSE(answer->has_header("Access-Control-Allow-Methods"));
  }
}

TEST_F(CorsTest, NamesOfHeadersThatAreNoneAreNotSentBack) {
  Serve({"*"});
  for (const std::string& names :
       {std::string("a\"b"), std::string("a:b"), std::string("\xFF"), std::string(3000, 'a')}) {
    const auto preflight = Preflight(kPage, "/speak", names);
    EXPECT_EQ(preflight->status, 204) << names;
    EXPECT_FALSE(preflight->has_header("Access-Control-Allow-Headers")) << names;
  }
}

}  // namespace
}  // namespace millrace
