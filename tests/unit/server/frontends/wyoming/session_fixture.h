#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/frontends/wyoming/session.h"
#include "server/frontends/wyoming/voice_list.h"
#include "server/frontends/wyoming/wyoming_server.h"
#include "tests/unit/server/frontends/wyoming/fixture.h"

namespace millrace::server {

// A session whose socket and client are the test.
class Client {
 public:
  explicit Client(const WyomingContext& context)
      : session(context, "192.0.2.1:4711", [changes = changes_] { ++*changes; }) {}

  void SendBytes(const std::string& bytes) {
    session.Receive(bytes);
    session.Advance();
  }
  void Send(const std::string& type, const nlohmann::json& data = nlohmann::json::object()) {
    SendBytes(EventBytes(type, data));
  }
  // Takes what there is to read now.
  std::vector<ReadEvent> Read() {
    Receive();
    std::vector<ReadEvent> all;
    for (ReadEvent& event : std::exchange(events_, {})) all.push_back(std::move(event));
    return all;
  }
  // Reads up to an event of that type, or of an error.
  std::vector<ReadEvent> ReadUntil(const std::string& type) {
    std::vector<ReadEvent> all;
    for (;;) {
      const int before = *changes_;
      Receive();
      while (!events_.empty()) {
        all.push_back(std::move(events_.front()));
        events_.pop_front();
        if (all.back().type == type || all.back().type == "error") return all;
      }
      Await([&] { return *changes_ != before; });
    }
  }
  // "code text" of the error that ends the session.
  std::string ReadError() {
    const std::vector<ReadEvent> events = ReadUntil("error");
    EXPECT_TRUE(session.over());
    EXPECT_FALSE(session.wants_bytes());
    const nlohmann::json& data = events.back().data;
    return data.value("code", "") + " " + data.value("text", "");
  }

 private:
  void Receive() {
    session.Advance();
    while (!session.unsent().empty() || session.has_more()) {
      bytes_ += session.unsent();
      session.Sent(session.unsent().size());
      session.Advance();
    }
    for (ReadEvent& event : TakeEvents(bytes_)) events_.push_back(std::move(event));
  }

  const std::shared_ptr<std::atomic<int>> changes_ = std::make_shared<std::atomic<int>>(0);
  std::string bytes_;
  std::deque<ReadEvent> events_;

 public:
  Session session;
};

class SessionTest : public ::testing::Test {
 protected:
  explicit SessionTest(TestBackend::Options options = {.workers = 1}) : backend_(options) {}

  Client Connect() { return Client(context_); }
  double Ended(Method method, absl::StatusCode code) {
    return backend_.Count("joe", method, code) + backend_.Count("", method, code);
  }
  void AwaitQuiet() {
    Await([this] { return backend_.admission.in_flight() == 0; });
  }

  std::atomic<bool> started_{true};
  FakeVoice voice_;
  TestBackend backend_;
  ModelsAnswer<std::string> info_{backend_.directory, MakeInfoEvent};
  const WyomingContext context_{.services = backend_.services(),
                                .info = info_,
                                .started = [this] { return started_.load(); },
                                .event_timeout = std::chrono::seconds(15),
                                .idle_timeout = std::chrono::seconds(300),
                                .stall_timeout = std::chrono::seconds(30),
                                .text_timeout = WyomingServer::Options().text_timeout};
};

class SpeakingSessionTest : public SessionTest {
 protected:
  SpeakingSessionTest() { backend_.Add(VoiceInfo("joe"), voice_.Hooks()); }
};

}  // namespace millrace::server
