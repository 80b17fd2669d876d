#include "server/requests/text_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/fakes/linear_time.h"
#include "tests/unit/server/requests/test_backend.h"

namespace millrace::server {
namespace {

// A stream whose audio nobody hears.
class Speech final : public Reply, public TextStream::Listener {
 public:
  explicit Speech(Services& services)
      : run_(services, Method::kWyomingTextStream, *this), text(run_, TimePoint::max(), *this) {}
  ~Speech() override {
    text.Fail(absl::CancelledError("over"));
    run_.Record(absl::CancelledError("over"), [] { return Requester(); });
  }

  void Emit(models::Output output) override { text.Emit(std::move(output)); }
  void Finish(const absl::Status& status) override { text.OnJobEnd(status); }
  void OnAudio(const std::string&, models::SynthesizeOutput) override {}
  void OnTextWanted() override {}
  void DropParked() override {}
  void OnEnd(const absl::Status&) override {}

 private:
  RequestRun run_;

 public:
  TextStream text;
};

TEST(TextStreamTest, ADocumentInPiecesTakesLinearTime) {
  TestBackend backend;
  backend.Add(VoiceInfo("m"), {});
  ExpectLinearTime(" ", 60'000, [&](const std::string& text) {
    Speech speech(backend.services());
    SpeechRequest config;
    config.model = "m";
    config.text_format = SpeechTextFormat::kSsml;
    ASSERT_TRUE(speech.text.Configure(std::move(config)).ok());
    for (const char piece : text) {
      ASSERT_TRUE(speech.text.Push({&piece, 1}, /*flush=*/false).ok());
      speech.text.Advance();
    }
  });
}

}  // namespace
}  // namespace millrace::server
