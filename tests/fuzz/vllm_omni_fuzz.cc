// Looks for messages of vLLM-Omni's clients that break their session, that it does not answer, that
// it answers out of order, or of whose speech it loses a part. A line is a message.
//
// usage: vllm_omni_fuzz [-max_total_time=60] tests/fuzz/seeds/vllm_omni

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/frontends/vllm_omni/speech_session.h"
#include "tests/fuzz/counted_speech.h"
#include "tests/fuzz/require.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using nlohmann::json;

// Names in a message may be long; what an error shows of them is not.
constexpr size_t kMaxErrorBytes = 2000;

// Takes what a client is told, which must be in order.
class Told {
 public:
  // spoken: the samples of the utterance, which its end resets.
  explicit Told(std::atomic<size_t>& spoken) : spoken_(spoken) {}

  void Take(const WebSocketMessage& message) {
    if (message.binary) {
      Require(in_sentence_, "sends audio outside of a sentence");
      bytes_ += message.data.size();
      utterance_bytes_ += message.data.size();
      return;
    }
    Require(models::IsValidUtf8(message.data), "sends text that is not UTF-8");
    const json event = json::parse(message.data);
    const std::string& type = event.at("type").get_ref<const std::string&>();
    if (type == "error") {
      failed_ = true;
      const size_t size = event.at("message").get_ref<const std::string&>().size();
      return Require(size > 0 && size <= kMaxErrorBytes, "has no error or one of many words");
    }
    Require(event.at("utterance_index") == utterances_, "is at another utterance");
    if (type == "audio.start") {
      Require(!std::exchange(in_sentence_, true), "begins a sentence within another");
      Require(event.at("sentence_index") == sentences_++, "is at another sentence");
      bytes_ = 0;
      plain_ = event.at("format") == "pcm" && event.at("sample_rate") == FakeVoice::kRate;
    } else if (type == "audio.done") {
      Require(std::exchange(in_sentence_, false), "ends a sentence that has not begun");
      Require(event.at("error") == true || event.at("total_bytes") == bytes_,
              "counts other bytes than it sends");
    } else {
      Require(type == "session.done" && !in_sentence_, "sends another event");
      Require(event.at("total_sentences") == sentences_, "counts other sentences than it sends");
      CheckSpeech();
      ++utterances_;
      sentences_ = 0;
      utterance_bytes_ = 0;
      failed_ = false;
    }
  }

 private:
  // Errors, and those of other messages as well, may end the speech early.
  void CheckSpeech() {
    const size_t spoken = spoken_.exchange(0);
    if (failed_) return;
    Require(spoken == 0 || sentences_ > 0, "sends nothing of the speech");
    if (sentences_ > 0 && plain_)
      Require(utterance_bytes_ == 2 * spoken, "sends other samples than are spoken");
  }

  std::atomic<size_t>& spoken_;
  size_t utterances_ = 0;
  size_t sentences_ = 0;
  size_t bytes_ = 0;  // the sentence's
  size_t utterance_bytes_ = 0;
  bool in_sentence_ = false;
  bool plain_ = false;   // the sentence is sent as samples of the voice's rate
  bool failed_ = false;  // an error came since the utterance before
};

class Server {
 public:
  Server() {
    backend_.Add(VoiceInfo("joe"), {.complete = [this](models::Request& request) {
                   SpeakCounted(request, spoken_);
                 }});
  }

  // Gives a session the messages, and the end of the last text.
  void Serve(std::string_view messages) {
    const std::string all = StrCat(messages, "\n", R"({"type": "input.done"})");
    std::string_view next = all;
    // The work of the session before may outlive it.
    Await([this] { return backend_.admission.in_flight() == 0; });
    spoken_ = 0;
    SpeechSession session(
        {.services = backend_.services(), .names = names_, .started = [] { return true; }},
        Caller(), absl::OkStatus(), [this] { ++changes_; });
    Told told(spoken_);
    for (;;) {
      const int before = changes_;
      session.Advance();
      while (const auto reply = session.Take()) {
        told.Take(*reply);
        session.OnAllSent();
      }
      if (session.end()) return;
      if (!session.wants_message()) {
        Await([&] { return changes_ != before; });
        continue;
      }
      if (next.empty()) return;
      const size_t end = std::min(next.find('\n'), next.size());
      session.Receive({std::string(next.substr(0, end))});
      next.remove_prefix(std::min(end + 1, next.size()));
    }
  }

 private:
  std::atomic<int> changes_ = 0;  // counts sessions, whose work may outlive them
  std::atomic<size_t> spoken_ = 0;
  TestBackend backend_;
  const std::shared_ptr<const SpeechNames> names_ =
      std::make_shared<const SpeechNames>(backend_.directory, backend_.services().voice_aliases);
};

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static millrace::server::Server server;
  // The WebSocket's text is UTF-8.
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (millrace::models::IsValidUtf8(bytes)) server.Serve(bytes);
  return 0;
}
