#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "httplib.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "tests/fakes/http_client.h"

namespace millrace {
namespace {

HttpServer::Options AnyPort() {
  HttpServer::Options options;
  options.address = "127.0.0.1:0";
  return options;
}

TEST(HttpRequestHandlingTest, AnswersAreNotPacked) {
  HttpServer server(AnyPort());
  const std::string whole(1000, 'x');
  server.routes().Get("/whole", [&whole](const httplib::Request&, httplib::Response& response) {
    response.set_content(whole, "application/json");
  });
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  client.set_decompress(false);
  for (const char* encodings : {"gzip", "gzip, deflate, br", "br", "*"}) {
    const auto result = client.Get("/whole", {{"accept-Encoding", encodings}});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->body, whole) << encodings;
    EXPECT_FALSE(result->has_header("Content-Encoding")) << encodings;
    EXPECT_EQ(result->get_header_value("Content-Length"), "1000");
  }
}

TEST(WholeBodyTest, IsWhatCameWhateverItsTypeSays) {
  HttpServer server(AnyPort());
  server.routes().Post(
      "/echo",
      HttpRoutes::Handler([](const httplib::Request& request, httplib::Response& response) {
        response.set_content(request.body + (request.has_param("a") ? " and members" : ""),
                             "text/plain");
      }));
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  // curl -d names the first type. Longer forms than 8 KiB are none to the library.
  for (const char* type : {"application/x-www-form-urlencoded", "application/json", "text/plain",
                           "multipart/form-data; boundary=x", ""}) {
    for (const std::string& body : {std::string("a=b"), std::string(100'000, 'x')}) {
      const auto result = client.Post("/echo", body, type);
      ASSERT_TRUE(result) << type;
      EXPECT_EQ(result->status, 200) << type;
      EXPECT_EQ(result->body, body) << type;
    }
  }
}

class GetBodyTest : public ::testing::Test {
 protected:
  GetBodyTest() {
    const auto echo = [](const httplib::Request& request, httplib::Response& response) {
      response.set_content("<" + request.body + ">", "text/plain");
    };
    server_.routes().GetWithBody("/asked", echo);
    server_.routes().Get("/plain", echo);
    EXPECT_TRUE(server_.Start().ok());
    client_.emplace(server_.port());
    client_->set_keep_alive(true);
  }

  httplib::Result Get(const std::string& path, const std::string& body,
                      const httplib::Headers& headers = {}) {
    httplib::Request request;
    request.method = "GET";
    request.path = path;
    request.headers = headers;
    request.body = body;
    return client_->send(request);
  }

  HttpServer server_{AnyPort()};
  std::optional<testing::HttpClient> client_;
};

TEST_F(GetBodyTest, IsReadWhereAPathAsksForIt) {
  for (const std::string& body : {std::string("type=target"), std::string(1024, 'x')}) {
    const auto result = Get("/asked", body);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->body, "<" + body + ">");
    EXPECT_NE(result->get_header_value("Connection"), "close");
  }
  EXPECT_EQ(Get("/asked/", "x")->body, "<x>");
  EXPECT_EQ(Get("/asked", "")->body, "<>");
}

TEST_F(GetBodyTest, IsDroppedWithItsConnectionElsewhere) {
  for (const auto& [path, body] :
       {std::pair("/plain", std::string("x")), std::pair("/asked", std::string(1025, 'x'))}) {
    const auto result = Get(path, body);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 200);
    EXPECT_EQ(result->body, "<>");
    EXPECT_EQ(result->get_header_value("Connection"), "close");
  }
}

TEST(GetBodyLimitsTest, OneThatDoesNotComeIsRefused) {
  HttpServer::Options options = AnyPort();
  options.request_timeout = std::chrono::milliseconds(50);
  HttpServer server(options);
  server.routes().GetWithBody("/asked", [](const httplib::Request&, httplib::Response&) {});
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  const auto result = client.Get("/asked", {{"Content-Length", "5"}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 408);
  EXPECT_EQ(result->get_header_value("Connection"), "close");
}

}  // namespace
}  // namespace millrace
