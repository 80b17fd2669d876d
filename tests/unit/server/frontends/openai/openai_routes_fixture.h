#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/frontends/openai/openai_routes.h"
#include "tests/fakes/http_client.h"
#include "tests/unit/server/frontends/test_server.h"
#include "tests/unit/server/requests/fake_voice.h"

namespace millrace::server {

// One sentence of 1000 samples of 8 kHz.
inline void SpeakOnce(models::Request& request) {
  request.Emit(Sound(1000));
  request.Finish(absl::OkStatus());
}

// The same for ever.
inline void SpeakOn(models::Request& request) { request.Emit(Sound(1000)); }

// A server of its own with OpenAI's endpoints on a free port, and fake models behind it.
class OpenAiRoutesTest : public ::testing::Test {
 protected:
  void Serve(OpenAiOptions options = {}, TestServer::Options server = {}) {
    server_ = std::make_unique<TestServer>(server);
    HttpServer::Options http;
    http.address = "127.0.0.1:0";
    http.max_body_bytes = 100'000;
    http_ = std::make_unique<HttpServer>(http);
    AddOpenAiRoutes(*http_, server_->services(), std::move(options));
    ASSERT_TRUE(http_->Start().ok());
  }
  void TearDown() override {
    if (server_ != nullptr) server_->Stop();
    if (http_ != nullptr) http_->Stop();
  }

  struct Answer {
    int status = 0;
    httplib::Headers headers;
    std::string body;

    nlohmann::json error() const { return nlohmann::json::parse(body).at("error"); }
  };
  Answer Post(const std::string& body, const httplib::Headers& headers = {},
              const std::string& path = "/v1/audio/speech", const char* type = "application/json") {
    testing::HttpClient client(http_->port());
    const auto result = client.Post(path, headers, body, type);
    if (!result) return {};
    return {result->status, result->headers, result->body};
  }
  Answer Get(const std::string& path) {
    testing::HttpClient client(http_->port());
    const auto result = client.Get(path);
    if (!result) return {};
    return {result->status, result->headers, result->body};
  }
  static std::string Say(const std::string& member = "") {
    return R"({"model": "joe", "input": "Hi", "response_format": "pcm", "sample_rate": 8000)" +
           (member.empty() ? "" : ", " + member) + "}";
  }
  // A connection that has sent a request; what it does then is the test's.
  int Connect(const std::string& body) {
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(http_->port()));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const std::string request = "POST /v1/audio/speech HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                                std::to_string(body.size()) + "\r\n\r\n" + body;
    EXPECT_EQ(send(descriptor, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    return descriptor;
  }
  static std::string ReadAll(int descriptor) {
    std::string answer;
    char buffer[4096];
    for (ssize_t count; (count = recv(descriptor, buffer, sizeof(buffer), 0)) > 0;)
      answer.append(buffer, static_cast<size_t>(count));
    close(descriptor);
    return answer;
  }
  void AwaitAllEnded() {
    Await([this] { return server_->admission.in_flight() == 0; });
  }

  std::unique_ptr<TestServer> server_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace millrace::server
