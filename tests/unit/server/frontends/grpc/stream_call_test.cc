#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "millrace/v1/translation.grpc.pb.h"
#include "mps_runtime/base/joining_thread.h"
#include "tests/unit/server/frontends/test_server.h"
#include "tests/unit/server/requests/infer_request.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;

constexpr size_t kPartBytes = 256 << 10;  // more than what flow control lets through unread

struct StepsDone final : models::RequestState {
  size_t count = 0;
};

// A model whose steps each emit a part of that size, the last of them with the end.
testing::ModelHooks::Hook EmitParts(size_t parts, size_t bytes,
                                    std::atomic<size_t>* steps = nullptr) {
  return [=](models::Request& request) {
    if (request.state() == nullptr) request.set_state(std::make_unique<StepsDone>());
    size_t& done = static_cast<StepsDone&>(*request.state()).count;
    models::TranslateOutput part;
    part.text = std::string(bytes, static_cast<char>('a' + done % 26));
    part.text_finished = ++done == parts;
    request.Emit(std::move(part));
    if (steps != nullptr) ++*steps;
    if (done == parts) request.Finish(absl::OkStatus());
  };
}

// A client of StreamTranslate that reads when the test says so.
class Client {
 public:
  explicit Client(const TestServer& server, const std::string& model = "stream")
      : stub_(v1::TranslationService::NewStub(server.NewChannel())) {
    v1::TranslateRequest request;
    request.set_model(model);
    request.add_texts("x");
    // Each client connects anew: on a busy machine the first try may fail.
    context.set_wait_for_ready(true);
    reader_ = stub_->StreamTranslate(&context, request);
  }
  ~Client() {
    if (reader_ == nullptr) return;
    context.TryCancel();
    Finish();
  }

  // The next part, empty at the end.
  std::string Read() {
    v1::StreamTranslateResponse response;
    return reader_->Read(&response) ? response.text() : "";
  }
  grpc::Status Finish() { return std::exchange(reader_, nullptr)->Finish(); }
  // Reads to the end: how many parts there were.
  size_t ReadAll() {
    size_t parts = 0;
    while (!Read().empty()) ++parts;
    return parts;
  }

  grpc::ClientContext context;

 private:
  const std::unique_ptr<v1::TranslationService::Stub> stub_;
  std::unique_ptr<grpc::ClientReader<v1::StreamTranslateResponse>> reader_;
};

class StreamCallTest : public ::testing::Test {
 protected:
  std::shared_ptr<ServedModel> AddStream(size_t parts, size_t bytes) {
    server_.Add(InferInfo("null"), {.complete = Echo});
    stream_ = server_.Add(TranslatorInfo("stream", "en", "pt"),
                          {.complete = EmitParts(parts, bytes, &steps_)});
    return stream_;
  }
  // The only worker served another request, and the stream's job neither ran before it nor waited
  // before or after it: it can only be parked.
  void AwaitParked() {
    const auto stub = inference::GRPCInferenceService::NewStub(server_.channel);
    const auto waits = [this] { return server_.scheduler.depth(stream_->queue()) != 0; };
    for (bool parked = false; !parked;) {
      const size_t before = steps_.load();
      const bool waited = waits();
      grpc::ClientContext context;
      inference::ModelInferResponse response;
      ASSERT_TRUE(stub->ModelInfer(&context, InferRequest("null"), &response).ok());
      parked = before > 0 && steps_.load() == before && !waited && !waits();
    }
  }
  void AwaitAllEnded() {
    Await([this] { return server_.admission.in_flight() == 0; });
  }

  TestServer server_{{.workers = 1}};
  std::atomic<size_t> steps_{0};
  std::shared_ptr<ServedModel> stream_;
};

TEST_F(StreamCallTest, PartsArriveInOrderThenTheStatus) {
  AddStream(30, 10);
  Client client(server_);
  for (size_t i = 0; i < 30; ++i)
    EXPECT_EQ(client.Read(), std::string(10, static_cast<char>('a' + i % 26)));
  EXPECT_EQ(client.Read(), "");
  EXPECT_TRUE(client.Finish().ok());
  AwaitAllEnded();
  EXPECT_EQ(server_.Count("stream", Method::kStreamTranslate, absl::StatusCode::kOk), 1);
}

TEST_F(StreamCallTest, RefusedCallEndsWithoutParts) {
  Client client(server_, "nil");
  EXPECT_EQ(client.Read(), "");
  EXPECT_EQ(client.Finish().error_code(), StatusCode::NOT_FOUND);
}

// As for want of memory.
TEST_F(StreamCallTest, CallThatThrowsBeforeItIsQueuedEndsInternalAndCounts) {
  server_.Add(TranslatorInfo("throws", "en", "pt"),
              {.validate = [](const models::Input&) -> absl::Status {
                throw std::length_error("too long");
              }});
  const grpc::Status status = Client(server_, "throws").Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message(), "too long");
  Await([&] {
    return server_.Count("throws", Method::kStreamTranslate, absl::StatusCode::kInternal) == 1;
  });
  // So does one without a stream, which is counted before it is answered.
  grpc::ClientContext context;
  v1::TranslateRequest request;
  request.set_model("throws");
  request.add_texts("x");
  v1::TranslateResponse response;
  const auto stub = v1::TranslationService::NewStub(server_.channel);
  EXPECT_EQ(stub->Translate(&context, request, &response).error_message(), "too long");
  EXPECT_EQ(server_.Count("throws", Method::kTranslate, absl::StatusCode::kInternal), 1);
}

TEST_F(StreamCallTest, ErrorAfterPartialOutputArrivesBehindIt) {
  server_.Add(TranslatorInfo("stream", "en", "pt"),
              {.complete = [emit = EmitParts(10, 10)](models::Request& request) {
                emit(request);
                if (static_cast<StepsDone&>(*request.state()).count == 3)
                  throw std::runtime_error("device lost");
              }});
  Client client(server_);
  EXPECT_GE(client.ReadAll(), 1U);
  const grpc::Status status = client.Finish();
  EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
  EXPECT_NE(status.error_message().find("device lost"), std::string::npos);
}

TEST_F(StreamCallTest, SlowReaderHoldsNeitherMemoryNorAWorkerAndGetsItAll) {
  constexpr size_t kParts = 200;
  AddStream(kParts, kPartBytes);
  Client client(server_);
  AwaitParked();
  // The worker serves others meanwhile (AwaitParked), and what waits is bounded.
  const size_t ahead = steps_.load();
  EXPECT_LT(ahead, kParts / 2);
  Await([this] { return server_.admission.in_flight() == 1; });
  for (size_t i = 0; i < kParts; ++i) {
    const std::string part = client.Read();
    ASSERT_EQ(part.size(), kPartBytes);
    ASSERT_EQ(part.front(), static_cast<char>('a' + i % 26));
    // A step of work only follows what was read, give or take what is on its way.
    ASSERT_LE(steps_.load(), i + ahead + 64);
  }
  EXPECT_EQ(client.Read(), "");
  EXPECT_TRUE(client.Finish().ok());
  EXPECT_EQ(steps_.load(), kParts);
}

// All work done is not the end: a drain must wait for the reader, and the count tells what arrived.
TEST(StreamCallDeliveryTest, CallIsAdmittedUntilItsOutputIsDelivered) {
  constexpr size_t kParts = 40;
  TestServer server({.workers = 1, .max_buffered_bytes = 1 << 30});
  std::atomic<size_t> steps{0};
  server.Add(TranslatorInfo("stream", "en", "pt"),
             {.complete = EmitParts(kParts, kPartBytes, &steps)});
  const auto count = [&](absl::StatusCode code) {
    return server.Count("stream", Method::kStreamTranslate, code);
  };
  Client reads(server);
  {
    Client leaves(server);
    Await([&] { return steps.load() == 2 * kParts; });
    EXPECT_EQ(server.admission.in_flight(), 2);
    EXPECT_EQ(count(absl::StatusCode::kOk), 0);
  }
  Await([&] { return server.admission.in_flight() == 1; });
  EXPECT_EQ(count(absl::StatusCode::kCancelled), 1);
  EXPECT_EQ(reads.ReadAll(), kParts);
  EXPECT_TRUE(reads.Finish().ok());
  Await([&] { return server.admission.in_flight() == 0; });
  EXPECT_EQ(count(absl::StatusCode::kOk), 1);
}

TEST_F(StreamCallTest, ClientThatNeverReadsLosesItsCall) {
  AddStream(200, kPartBytes);
  Client client(server_);
  AwaitParked();
  const TimePoint now = Clock::Real().Now();
  EXPECT_EQ(server_.streams.AbortStalled(now), 0);
  // The connection may just have taken all that waited; then the next part stalls.
  Await([&] { return server_.streams.AbortStalled(now + std::chrono::minutes(5)) == 1; });
  AwaitAllEnded();
  EXPECT_LT(steps_.load(), 200U);
  client.ReadAll();
  EXPECT_EQ(client.Finish().error_code(), StatusCode::CANCELLED);
}

TEST_F(StreamCallTest, StreamThatHasNothingToSendIsNotStalled) {
  Gate gate;
  server_.Add(TranslatorInfo("stream", "en", "pt"),
              {.forward = [&](models::Request&) { gate.Pass(); }, .complete = EmitParts(1, 10)});
  Client client(server_);
  gate.AwaitInside();
  EXPECT_EQ(server_.streams.AbortStalled(Clock::Real().Now() + std::chrono::hours(1)), 0);
  gate.Open();
  EXPECT_EQ(client.ReadAll(), 1U);
  EXPECT_TRUE(client.Finish().ok());
}

TEST_F(StreamCallTest, CancelWhileParkedEndsTheJob) {
  const auto model = AddStream(200, kPartBytes);
  Client client(server_);
  AwaitParked();
  client.context.TryCancel();
  AwaitAllEnded();
  EXPECT_EQ(server_.Count("stream", Method::kStreamTranslate, absl::StatusCode::kCancelled), 1);
  EXPECT_EQ(server_.scheduler.depth(model->queue()), 0U);
}

TEST_F(StreamCallTest, DeadlineWhileParkedEndsTheJob) {
  AddStream(200, kPartBytes);
  const auto channel = server_.NewChannel();
  ASSERT_TRUE(
      channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::minutes(1)));
  const auto stub = v1::TranslationService::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(3));
  v1::TranslateRequest request;
  request.add_texts("x");
  const auto reader = stub->StreamTranslate(&context, request);
  Await([this] { return steps_.load() > 0; });
  AwaitAllEnded();
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(StreamCallTest, CancelStopsAStreamThatRunsWithinAStep) {
  // Each step waits to be told, so that the test sees where the work stops.
  std::atomic<size_t> allowed{1};
  server_.Add(TranslatorInfo("stream", "en", "pt"),
              {.forward =
                   [&](models::Request& request) {
                     Await([&] { return steps_.load() < allowed.load() || request.cancelled(); });
                   },
               .complete = EmitParts(1000, 10, &steps_)});
  Client client(server_);
  EXPECT_EQ(client.Read().size(), 10U);
  client.context.TryCancel();
  AwaitAllEnded();
  EXPECT_LE(steps_.load(), 2U);  // the one read, and at most the one that ran
}

TEST_F(StreamCallTest, ShutdownEndsWaitingRunningAndParkedCalls) {
  AddStream(200, kPartBytes);
  std::atomic<bool> inside{false};
  server_.Add(TranslatorInfo("endless", "en", "de"),
              {.forward =
                   [&](models::Request& request) {
                     inside = true;
                     Await([&] { return request.ShouldStop(); });
                   },
               .complete = [](models::Request&) {}});
  Client parked(server_);
  AwaitParked();
  Client running(server_, "endless");
  Await([&] { return inside.load(); });
  Client waiting(server_, "endless");
  Await([this] { return server_.admission.in_flight() == 3; });

  server_.Stop();  // returns: every call is gone
  EXPECT_EQ(server_.admission.in_flight(), 0);
  EXPECT_EQ(waiting.Finish().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_FALSE(running.Finish().ok());
  parked.ReadAll();
  EXPECT_FALSE(parked.Finish().ok());
}

// Clients of every kind at once, on several workers: each call ends, none is lost or doubled.
TEST(StreamCallRaceTest, ManyClientsComeReadAndLeave) {
  constexpr int kClients = 16;
  constexpr int kEach = 8;
  TestServer server({.workers = 4, .max_buffered_bytes = 16 << 10});
  std::atomic<size_t> steps{0};
  server.Add(TranslatorInfo("stream", "en", "pt"), {.complete = EmitParts(20, 8 << 10, &steps)});
  std::atomic<int> complete{0};
  {
    std::vector<JoiningThread> clients;
    for (int c = 0; c < kClients; ++c) {
      clients.emplace_back([&, c] {
        for (int i = 0; i < kEach; ++i) {
          Client client(server);
          switch ((c + i) % 4) {
            case 0:  // leaves at once
              break;
            case 1:  // leaves in the middle
              client.Read();
              client.Read();
              break;
            default: {  // stays
              EXPECT_EQ(client.ReadAll(), 20U);
              const grpc::Status status = client.Finish();
              EXPECT_TRUE(status.ok()) << status.error_code() << ": " << status.error_message();
              ++complete;
            }
          }
        }
      });
    }
  }
  EXPECT_EQ(complete.load(), kClients * kEach / 2);
  Await([&] { return server.admission.in_flight() == 0; });
  server.Stop();
  double ended = 0;
  for (size_t code = 0; code < kStatusCodes; ++code) {
    ended += server.Count("stream", Method::kStreamTranslate, static_cast<absl::StatusCode>(code));
  }
  const double stayed = server.Count("stream", Method::kStreamTranslate, absl::StatusCode::kOk);
  EXPECT_GE(stayed, kClients * kEach / 2);
  // One that left may have had its end on the way; one that was cancelled before it was sent never
  // came.
  EXPECT_LE(ended, kClients * kEach);
}

}  // namespace
}  // namespace millrace::server
