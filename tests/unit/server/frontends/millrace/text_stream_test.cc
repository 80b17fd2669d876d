// Speech of a text that is still being written, over a real connection.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/v1/synthesis.grpc.pb.h"
#include "tests/unit/server/frontends/test_server.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

// Keeps its requests in order, and speaks a sentence of a sample a byte for each, with the pause
// behind it.
class Voice {
 public:
  testing::ModelHooks Hooks() {
    return {.complete = [this](models::Request& request) {
      const auto& input = std::get<models::SynthesizeInput>(request.input());
      {
        const std::scoped_lock lock(mu_);
        seen_.push_back(input);
      }
      models::SynthesizeOutput part;
      part.sample_rate = 8000;
      part.samples.assign(input.text.size(), 0.5F);
      part.samples.resize(part.samples.size() +
                          static_cast<size_t>(input.markup.pause_after * 8000));
      part.text = input.text;
      if (input.word_times) part.words = {{input.text, 0, 1, 2}};
      request.Emit(std::move(part));
      request.Finish(absl::OkStatus());
    }};
  }
  std::vector<models::SynthesizeInput> seen() const {
    const std::scoped_lock lock(mu_);
    return seen_;
  }

 private:
  mutable std::mutex mu_;
  std::vector<models::SynthesizeInput> seen_;
};

class Client {
 public:
  explicit Client(const TestServer& server)
      : stub_(v1::SynthesisService::NewStub(server.NewChannel())) {
    context.set_wait_for_ready(true);
    stream_ = stub_->SynthesizeTextStream(&context);
  }
  ~Client() {
    if (stream_ == nullptr) return;
    context.TryCancel();
    Finish();
  }

  void Configure(const std::string& voice = "") {
    v1::SynthesizeTextStreamRequest request;
    request.mutable_config()->set_model("joe");
    request.mutable_config()->set_voice(voice);
    Write(request);
  }
  void Say(const std::string& text, bool flush = false) {
    v1::SynthesizeTextStreamRequest request;
    request.set_text(text);
    request.set_flush(flush);
    Write(request);
  }
  void Write(const v1::SynthesizeTextStreamRequest& request) { stream_->Write(request); }
  void Done() { stream_->WritesDone(); }
  // The next message's sentence and its text, "" at the end.
  std::string Read() {
    v1::StreamSynthesizeResponse response;
    if (!stream_->Read(&response)) return "";
    bytes += response.audio().size();
    for (const v1::SpokenSpan& word : response.words()) words.push_back(word);
    return std::to_string(response.sentence_index()) + " " + response.text();
  }
  std::vector<std::string> ReadAll() {
    std::vector<std::string> all;
    for (std::string part = Read(); !part.empty(); part = Read()) all.push_back(part);
    return all;
  }
  grpc::Status Finish() {
    while (!Read().empty()) {
    }
    return std::exchange(stream_, nullptr)->Finish();
  }

  grpc::ClientContext context;
  size_t bytes = 0;  // the audio's
  std::vector<v1::SpokenSpan> words;

 private:
  const std::unique_ptr<v1::SynthesisService::Stub> stub_;
  std::unique_ptr<
      grpc::ClientReaderWriter<v1::SynthesizeTextStreamRequest, v1::StreamSynthesizeResponse>>
      stream_;
};

class TextStreamTest : public ::testing::Test {
 protected:
  TextStreamTest() { server_.Add(VoiceInfo("joe"), voice_.Hooks()); }

  Voice voice_;
  TestServer server_;
};

using Strings = std::vector<std::string>;

TEST_F(TextStreamTest, ASentenceIsSpokenWhenTheNextBegins) {
  Client client(server_);
  client.Configure("second");
  client.Say("It is ");
  client.Say("done. We");
  EXPECT_EQ(client.Read(), "0 It is done. ");
  client.Say(" can go");
  client.Done();
  EXPECT_EQ(client.Read(), "1 We can go");
  EXPECT_EQ(client.Read(), "");
  EXPECT_EQ(client.bytes, 2 * std::string("It is done. We can go").size());
  const grpc::Status status = client.Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  const auto seen = voice_.seen();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].voice, "second");
  EXPECT_TRUE(seen[0].streamed);
  EXPECT_EQ(seen[0].first_sentence, 0U);
  EXPECT_EQ(seen[1].first_sentence, 1U);
}

TEST_F(TextStreamTest, TimesAndPlacesOfWordsAreOfTheWholeCall) {
  Client client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("joe");
  request.mutable_config()->set_word_times(true);
  client.Write(request);
  // Marks alone are dropped, but counted.
  for (int i = 0; i < 2; ++i) client.Say(std::string(2500, '.'), true);
  client.Say("\n\u00dcber. We go.", true);
  EXPECT_EQ(client.Read(), "0 \n\u00dcber. We go.");
  client.Say("End.", true);
  EXPECT_EQ(client.Read(), "1 End.");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
  ASSERT_EQ(client.words.size(), 2U);
  EXPECT_EQ(client.words[0].character_offset(), 5000 + 2);
  EXPECT_EQ(client.words[0].start_seconds(), 0);
  EXPECT_EQ(client.words[1].character_offset(), 5000 + 13 + 2);
  EXPECT_EQ(client.words[1].sentence_index(), 1);
  EXPECT_EQ(client.words[1].start_seconds(), 14 / 8000.0);
}

TEST_F(TextStreamTest, AFlushSpeaksAnUnfinishedSentence) {
  Client client(server_);
  client.Configure();
  client.Say("Hello there", true);
  EXPECT_EQ(client.Read(), "0 Hello there");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
}

TEST_F(TextStreamTest, TheConfigMayComeWithTheWholeText) {
  Client client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("joe");
  request.set_text("One. Two.");
  client.Write(request);
  client.Done();
  const Strings all = client.ReadAll();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(client.Finish().ok());
  std::string spoken;
  for (const auto& input : voice_.seen()) spoken += input.text;
  EXPECT_EQ(spoken, "One. Two.");
}

TEST_F(TextStreamTest, TagsHoldForTheTextBehindThem) {
  Client client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("joe");
  request.mutable_config()->set_text_format(v1::SPEECH_TEXT_FORMAT_TAGS);
  client.Write(request);
  client.Say("[voice:second]One.", true);
  EXPECT_EQ(client.Read(), "0 One.");
  client.Say("[rate:2]", true);  // speaks nothing
  client.Say("Two.[pause:1s]", true);
  EXPECT_EQ(client.Read(), "1 Two.");
  client.Say("Three.", true);
  EXPECT_EQ(client.Read(), "2 Three.");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
  const auto seen = voice_.seen();
  ASSERT_EQ(seen.size(), 3U);
  for (const auto& input : seen) EXPECT_EQ(input.markup.parts.at(0).manner.voice, "second");
  EXPECT_EQ(seen[0].markup.parts[0].manner.speed, 1);
  EXPECT_EQ(seen[1].markup.parts[0].manner.speed, 2);
  EXPECT_EQ(seen[1].markup.pause_after, 1);
  EXPECT_EQ(seen[1].break_before, models::SpeechBreak::kSentence);
  // The pause of the tag is in place of the usual one.
  EXPECT_EQ(seen[2].break_before, models::SpeechBreak::kNone);
}

TEST_F(TextStreamTest, APauseThatStandsAloneIsHeard) {
  Client client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("joe");
  request.mutable_config()->set_text_format(v1::SPEECH_TEXT_FORMAT_TAGS);
  client.Write(request);
  client.Say("[pause:1s]", true);
  client.Say("Two.", true);
  client.Done();
  EXPECT_EQ(client.ReadAll(), (Strings{"0 ", "1 Two."}));
  EXPECT_EQ(client.bytes, 2U * (8000 + std::string("Two.").size()));
  EXPECT_TRUE(client.Finish().ok());
  // By itself it is a text too.
  Client alone(server_);
  alone.Write(request);
  alone.Say("[pause:1s]");
  alone.Done();
  EXPECT_EQ(alone.ReadAll(), Strings{"0 "});
  EXPECT_EQ(alone.bytes, 2U * 8000);
  EXPECT_TRUE(alone.Finish().ok());
}

TEST_F(TextStreamTest, SsmlIsOneDocument) {
  Client client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("joe");
  request.mutable_config()->set_text_format(v1::SPEECH_TEXT_FORMAT_SSML);
  client.Write(request);
  for (const char* piece : {"<speak>One. Tw", "o. <break ti", "me='1s'/>Three.</spe", "ak>"})
    client.Say(piece);
  client.Done();
  EXPECT_EQ(client.ReadAll(), Strings{"0 One. Two.Three."});
  EXPECT_TRUE(client.Finish().ok());
  ASSERT_EQ(voice_.seen().size(), 1U);
  EXPECT_EQ(voice_.seen()[0].markup.parts.at(1).pause, 1);
}

TEST_F(TextStreamTest, MarksAreSpokenWithWhatFollows) {
  Client client(server_);
  client.Configure();
  client.Say("... ", true);
  client.Say("Yes", true);
  EXPECT_EQ(client.Read(), "0 ... Yes");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
}

TEST_F(TextStreamTest, BadMessagesNameTheField) {
  struct Case {
    std::function<void(Client&)> send;
    std::string message;
  };
  const std::vector<Case> cases = {
      {[](Client& c) { c.Say("x"); }, "config: the first message must have it"},
      {[](Client& c) { c.Done(); }, "config: the first message must have it"},
      {[](Client& c) {
         c.Configure();
         c.Configure();
       },
       "config: is for the first message only"},
      {[](Client& c) {
         c.Configure();
         c.Done();
       },
       "text: there is nothing to speak"},
      {[](Client& c) {
         c.Configure();
         c.Say("?!");
         c.Done();
       },
       "text: there is nothing to speak"},
      {[](Client& c) {
         c.Configure();
         c.Say(std::string("a\0", 2));
       },
       "text: has a NUL at byte 1"},
      {[](Client& c) {
         c.Configure();
         c.Say(std::string(5001, 'x'));
       },
       "text: has 5001 characters; at most 5000"},
      {[](Client& c) {
         c.Configure();
         c.Say(std::string(100'000, 'x'));
       },
       "text: the message has 100004 bytes; at most 65536"},
      {[](Client& c) {
         v1::SynthesizeTextStreamRequest request;
         request.mutable_config()->set_text("x");
         c.Write(request);
       },
       "config.text: must be empty"},
      {[](Client& c) {
         v1::SynthesizeTextStreamRequest request;
         request.mutable_config()->set_phonemes("x");
         c.Write(request);
       },
       "config.phonemes: must be empty"},
      {[](Client& c) {
         v1::SynthesizeTextStreamRequest request;
         request.mutable_config()->set_sample_rate(7);
         c.Write(request);
       },
       "sample_rate: 7 is not allowed"},
  };
  for (const Case& bad : cases) {
    Client client(server_);
    bad.send(client);
    const grpc::Status status = client.Finish();
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << bad.message;
    EXPECT_THAT(status.error_message(), HasSubstr(bad.message));
  }
  EXPECT_TRUE(voice_.seen().empty());
}

TEST_F(TextStreamTest, ABadVoiceIsToldBeforeAnyText) {
  server_.Add(VoiceInfo("strict"), {.validate = [](const models::Input&) {
                return absl::InvalidArgumentError("voice: has none");
              }});
  Client client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("strict");
  client.Write(request);
  EXPECT_EQ(client.Finish().error_message(), "voice: has none");
}

TEST_F(TextStreamTest, AFailedJobEndsTheCall) {
  server_.Add(VoiceInfo("broken"), {.complete = [](models::Request& request) {
                request.Finish(absl::InternalError("broke"));
              }});
  Client client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("broken");
  request.set_text("One.");
  request.set_flush(true);
  client.Write(request);
  const grpc::Status status = client.Finish();
  EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message(), "broke");
}

// A message that is wrong while a sentence is spoken ends the call with what is wrong.
TEST_F(TextStreamTest, ABadMessageStopsTheJobUnderWay) {
  std::atomic<bool> begun{false};
  server_.Add(VoiceInfo("slow"), {.complete = [&](models::Request& request) {
                begun = true;
                if (request.ShouldStop()) request.Finish(absl::CancelledError("stopped"));
              }});
  Client client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("slow");
  request.set_text("One.");
  request.set_flush(true);
  client.Write(request);
  Await([&] { return begun.load(); });
  client.Configure();
  const grpc::Status status = client.Finish();
  EXPECT_EQ(status.error_message(), "config: is for the first message only");
}

TEST_F(TextStreamTest, ACancelledCallLeavesNothingBehind) {
  std::atomic<bool> begun{false};
  server_.Add(VoiceInfo("slow"), {.complete = [&](models::Request&) { begun = true; }});
  {
    Client idle(server_);
    idle.Configure();
    Client busy(server_);
    v1::SynthesizeTextStreamRequest request;
    request.mutable_config()->set_model("slow");
    request.set_text("One.");
    request.set_flush(true);
    busy.Write(request);
    Await([&] { return begun.load(); });
  }
  Await([&] { return server_.admission.in_flight() == 0; });
}

// gRPC tells of the end of what the client sends before it tells that the client has gone.
TEST_F(TextStreamTest, AClientThatLeavesBetweenSentencesIsCountedAsCancelled) {
  const auto ended = [&](absl::StatusCode code) {
    return server_.Count("joe", Method::kSynthesizeTextStream, code);
  };
  constexpr int kClients = 20;
  for (int i = 0; i < kClients; ++i) {
    Client client(server_);
    client.Configure();
    client.Say("One.", true);
    Await([&] { return voice_.seen().size() > static_cast<size_t>(i); });
  }
  Await([&] { return ended(absl::StatusCode::kCancelled) == kClients; });
  EXPECT_EQ(ended(absl::StatusCode::kOk), 0);
}

// A client that sends faster than the voice speaks is not read from for ever.
TEST_F(TextStreamTest, AThousandSentencesAtOnceAreSpokenInOrder) {
  Client client(server_);
  client.Configure();
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const std::string sentence = "Sentence number " + std::to_string(i) + " is here. ";
    text += sentence;
    client.Say(sentence);
  }
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
  std::string spoken;
  for (const auto& input : voice_.seen()) {
    EXPECT_LE(input.text.size(), 10'000U);
    spoken += input.text;
  }
  EXPECT_EQ(spoken, text);
  EXPECT_EQ(client.bytes, 2 * text.size());
}

TEST_F(TextStreamTest, ManyClientsThatLeaveAtAnyTimeDoNoHarm) {
  for (int round = 0; round < 30; ++round) {
    Client client(server_);
    client.Configure();
    for (int i = 0; i < round % 7; ++i) client.Say("One. Two. Three");
    if (round % 3 == 0) client.Done();
    if (round % 2 == 0) client.context.TryCancel();
  }
  Await([&] { return server_.admission.in_flight() == 0; });
}

// Text that cannot be spoken is left out, however much of it there is.
TEST_F(TextStreamTest, AnyNumberOfMarksIsNoEnd) {
  Client client(server_);
  client.Configure();
  for (int i = 0; i < 5; ++i) client.Say(std::string(4001, '-'), true);
  client.Say("Yes", true);
  EXPECT_EQ(client.Read(), "0 Yes");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
  for (const auto& input : voice_.seen()) EXPECT_TRUE(input.part_of_text);
}

// A call that was let in is not refused halfway, neither by a full queue nor by a drain.
TEST_F(TextStreamTest, ACallUnderWayGoesOnDuringADrain) {
  Client client(server_);
  client.Configure();
  client.Say("One", true);
  EXPECT_EQ(client.Read(), "0 One");
  server_.admission.Close();
  client.Say("Two", true);
  EXPECT_EQ(client.Read(), "1 Two");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
  Client late(server_);
  late.Configure();
  late.Say("Three", true);
  EXPECT_EQ(late.Finish().error_code(), StatusCode::UNAVAILABLE);
}

// Sentences end while clients leave: the call belongs to one thread at a time.
TEST_F(TextStreamTest, ClientsThatLeaveAsSentencesEndDoNoHarm) {
  constexpr int kClients = 8, kRounds = 150;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([this, i] {
      for (int round = 0; round < kRounds; ++round) {
        Client client(server_);
        client.Configure();
        client.Say("One. Two. Three", true);
        if (round % 4 != 0) client.Read();
        if ((round + i) % 2 == 0) {
          client.context.TryCancel();
        } else {
          client.Done();
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  Await([&] { return server_.admission.in_flight() == 0; });
}

TEST_F(TextStreamTest, AnIdleStreamCountsAsWaiting) {
  Client client(server_);
  client.Configure();
  client.Say("One. T");
  EXPECT_EQ(client.Read(), "0 One. ");
  // Nothing comes: the registry ends it once its patience is over.
  Await([&] { return server_.streams.AbortStalled(TimePoint::max()) == 1; });
  EXPECT_EQ(client.Finish().error_code(), StatusCode::CANCELLED);
}

}  // namespace
}  // namespace millrace::server
