#include "tests/load/loadgen/http_calls.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/sockets/acceptor.h"
#include "tests/load/loadgen/runner.h"

namespace millrace::loadgen {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

// A server with routes of the test's own.
class HttpCallsTest : public ::testing::Test {
 protected:
  ~HttpCallsTest() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  void Serve() {
    server_.set_keep_alive_max_count(1'000'000);
    server_.set_tcp_nodelay(true);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // The library makes its tables at the first request. ThreadSanitizer does not see the guards by
    // which a second one would wait for them, since the library is not instrumented.
    EXPECT_TRUE(httplib::Client("127.0.0.1", port_).Get("/"));
  }
  // Makes `count` calls, so many at once, whose results are in the recorder.
  void Run(Method method, uint64_t count, int concurrency = 4) {
    options_.address = "127.0.0.1:" + std::to_string(port_);
    options_.method = method;
    options_.model = "m";
    options_.texts = {"One.", "Two."};
    options_.source_language = "en";
    options_.target_language = "pt";
    options_.voice = "v";
    options_.count = count;
    options_.concurrency = concurrency;
    recorder_ = std::make_unique<Recorder>(std::chrono::steady_clock::now(), options_.duration);
    outputs_ = std::make_unique<Outputs>();
    const std::unique_ptr<Caller> caller = MakeHttpCaller(options_, *recorder_, *outputs_);
    Runner(options_, *caller, *recorder_).Run();
  }
  uint64_t Ended(grpc::StatusCode code) {
    return recorder_->status(static_cast<size_t>(code)).latency.count();
  }

  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
  Options options_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<Outputs> outputs_;
};

TEST_F(HttpCallsTest, InferencesComeBackAsTheyWent) {
  std::atomic<int> wrong{0};
  server_.Post("/v2/models/m/infer", [&](const httplib::Request& request, httplib::Response& out) {
    const size_t length = std::stoul(request.get_header_value("Inference-Header-Content-Length"));
    const json head = json::parse(request.body.substr(0, length));
    const std::string data = request.body.substr(length);
    if (head["inputs"][0]["shape"] != json::array({64}) || data.size() != 256) ++wrong;
    const std::string answer = R"({"outputs":[]})";
    out.set_header("Inference-Header-Content-Length", std::to_string(answer.size()));
    out.set_content(answer + data, "application/octet-stream");
  });
  Serve();
  Run(Method::kHttpInfer, 100);
  EXPECT_EQ(Ended(grpc::OK), 100U);
  EXPECT_EQ(recorder_->wrong(), 0U);
  EXPECT_EQ(wrong, 0);
}

TEST_F(HttpCallsTest, OtherTensorsAreWrong) {
  server_.Post("/v2/models/m/infer", [&](const httplib::Request&, httplib::Response& response) {
    response.set_header("Inference-Header-Content-Length", "2");
    response.set_content("{}" + std::string(256, '\0'), "application/octet-stream");
  });
  Serve();
  Run(Method::kHttpInfer, 5);
  EXPECT_EQ(recorder_->wrong(), 5U);
}

TEST_F(HttpCallsTest, TranslationsAreCounted) {
  server_.Post("/translate", [&](const httplib::Request& request, httplib::Response& response) {
    const json body = json::parse(request.body);
    const std::string text = body["q"];
    response.set_content(text == "Two." ? "{}" : json{{"translatedText", "Um."}}.dump(),
                         "application/json");
  });
  Serve();
  Run(Method::kHttpTranslate, 4);
  EXPECT_EQ(Ended(grpc::OK), 4U);
  EXPECT_EQ(recorder_->wrong(), 2U);
}

TEST_F(HttpCallsTest, SpeechInChunksIsCounted) {
  server_.Post("/v1/audio/speech", [&](const httplib::Request& request, httplib::Response& out) {
    const json body = json::parse(request.body);
    EXPECT_EQ(body["voice"], "v");
    EXPECT_EQ(body["response_format"], "pcm");
    out.set_chunked_content_provider("audio/pcm", [n = 0](size_t, httplib::DataSink& sink) mutable {
      const std::string piece(22050, 'a');
      sink.write(piece.data(), piece.size());
      if (++n == 2) sink.done();
      return true;
    });
  });
  Serve();
  Run(Method::kHttpSynthesize, 3);
  EXPECT_EQ(Ended(grpc::OK), 3U);
  EXPECT_EQ(recorder_->output_bytes(), 3U * 44100);
  EXPECT_DOUBLE_EQ(recorder_->audio_seconds(), 3);
  EXPECT_EQ(outputs_->inconsistent(), 0U);
}

TEST_F(HttpCallsTest, RefusalsAreCountedByTheirStatus) {
  server_.Post("/translate", [&](const httplib::Request&, httplib::Response& response) {
    response.status = 429;
    response.set_content(R"({"error":"later"})", "application/json");
  });
  Serve();
  Run(Method::kHttpTranslate, 6);
  EXPECT_EQ(Ended(grpc::RESOURCE_EXHAUSTED), 6U);
  EXPECT_EQ(recorder_->messages().at(grpc::RESOURCE_EXHAUSTED), R"(429 {"error":"later"})");
}

TEST_F(HttpCallsTest, ServerThatIsNotThereEndsEachCall) {
  Acceptor closed({.protocol = "HTTP",
                   .address = {.tcp = {"127.0.0.1", 0}, .socket_file = {}},
                   .retry = milliseconds(10)});
  ASSERT_TRUE(closed.Start().ok());
  port_ = closed.port();
  closed.Close();
  Run(Method::kHttpInfer, 50);
  EXPECT_EQ(Ended(grpc::UNAVAILABLE), 50U);
}

// Connections that are taken and never answered.
TEST_F(HttpCallsTest, AnswerThatDoesNotComeEndsTheCallAtItsDeadline) {
  Acceptor silent({.protocol = "HTTP",
                   .address = {.tcp = {"127.0.0.1", 0}, .socket_file = {}},
                   .retry = milliseconds(10)});
  ASSERT_TRUE(silent.Start().ok());
  port_ = silent.port();
  options_.deadline = milliseconds(30);
  Run(Method::kHttpInfer, 6, 2);
  EXPECT_EQ(Ended(grpc::DEADLINE_EXCEEDED), 6U);
}

}  // namespace
}  // namespace millrace::loadgen
