// Translations by way of English: two models at work on one request. No gRPC in this process: TSan
// sees every access.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/v1/translation.pb.h"
#include "mps_runtime/base/mutex.h"
#include "server/frontends/kserve/infer_service.h"
#include "server/frontends/libretranslate/translate_reply.h"
#include "server/frontends/millrace/translation_service.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/joining_thread.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using testing::FakeCall;
using ::testing::IsNull;
using testing::JoiningThread;
using ::testing::SizeIs;

constexpr int kRounds = 20;

// A gate that lets so many steps pass.
class Turnstile {
 public:
  void Pass() {
    const int step = ++arrived_;
    Await([&] { return let_ >= step; });
  }
  void AwaitArrived(int steps) {
    Await([&] { return arrived_ >= steps; });
  }
  void Let(int steps) { let_ = steps; }
  void LetAll() { Let(1'000'000); }
  int arrived() const { return arrived_; }

 private:
  std::atomic<int> arrived_{0};
  std::atomic<int> let_{0};
};

models::TranslateOutput Sentence(size_t text, std::string translation, bool ends_text) {
  models::TranslateOutput output;
  output.text_index = text;
  output.text = std::move(translation);
  output.text_finished = ends_text;
  output.source_tokens = 2;
  output.target_tokens = 3;
  return output;
}

const models::TranslateInput& InputOf(models::Request& request) {
  return std::get<models::TranslateInput>(request.input());
}

// Translates a letter of the texts in each step, into itself: the letters are the sentences.
struct LettersDone final : models::RequestState {
  size_t text = 0;
  size_t letter = 0;
};
void TranslateLetter(models::Request& request) {
  if (request.ShouldStop()) return;
  if (request.state() == nullptr) request.set_state(std::make_unique<LettersDone>());
  auto& done = static_cast<LettersDone&>(*request.state());
  const std::vector<std::string>& texts = InputOf(request).texts;
  const std::string& text = texts[done.text];
  const size_t letter = done.letter++;
  const size_t of = done.text;
  const bool ends_text = done.letter == text.size();
  if (ends_text) {
    ++done.text;
    done.letter = 0;
  }
  request.Emit(Sentence(of, std::string(1, text[letter]), ends_text));
  if (done.text == texts.size()) request.Finish(absl::OkStatus());
}

class PivotTest : public ::testing::Test {
 protected:
  static TestBackend::Options TwoWorkers() { return {.workers = 2}; }

  // Both models wait at a turnstile before each step.
  void Start(TestBackend::Options options = TwoWorkers(),
             testing::ModelHooks::Hook first = TranslateLetter,
             testing::ModelHooks::Hook second = {}) {
    if (!second) second = [this](models::Request& request) { Wrap(request); };
    backend_ = std::make_unique<TestBackend>(options);
    first_ = backend_->Add(
        TranslatorInfo("pt-en", "pt", "en"),
        {.forward = [this](models::Request&) { at_first_.Pass(); }, .complete = std::move(first)});
    second_ = backend_->Add(TranslatorInfo("en-de", "en", "de"),
                            {.forward = [this](models::Request&) { at_second_.Pass(); },
                             .complete = std::move(second)});
    service_ = std::make_unique<TranslationService>(backend_->services());
  }
  void LetAll() {
    at_first_.LetAll();
    at_second_.LetAll();
  }

  // A model whose steps pass the gate.
  void AddOther(Gate& gate) {
    backend_->Add(InferInfo("other"),
                  {.forward = [&gate](models::Request&) { gate.Pass(); }, .complete = Echo});
    other_ = std::make_unique<InferService>(backend_->services(), [] { return true; });
  }

  // "<sentence>" of each sentence.
  void Wrap(models::Request& request) {
    if (request.ShouldStop()) return;
    const models::TranslateInput& input = InputOf(request);
    {
      MutexLock lock(mu_);
      seen_.push_back(input);
    }
    for (size_t i = 0; i < input.texts.size(); ++i) {
      const std::string prefix = input.target_prefixes.empty() ? "" : input.target_prefixes[i];
      request.Emit(Sentence(i, prefix + "<" + input.texts[i] + ">" + padding_, true));
    }
    request.Finish(absl::OkStatus());
  }
  // What the second model was given, job by job.
  std::vector<models::TranslateInput> seen() {
    MutexLock lock(mu_);
    return seen_;
  }
  std::vector<std::vector<std::string>> seen_texts() {
    std::vector<std::vector<std::string>> texts;
    for (const models::TranslateInput& input : seen()) texts.push_back(input.texts);
    return texts;
  }

  static v1::TranslateRequest Request(const std::vector<std::string>& texts) {
    v1::TranslateRequest request;
    for (const std::string& text : texts) request.add_texts(text);
    request.set_source_language("pt");
    request.set_target_language("de");
    return request;
  }
  static std::string Bytes(const std::vector<std::string>& texts) {
    return Request(texts).SerializeAsString();
  }
  void Begin(FakeCall& call) { call.Begin(*service_, "StreamTranslate"); }
  static std::string TextOf(const std::vector<std::string>& messages) {
    std::string text;
    for (const std::string& message : messages) {
      v1::StreamTranslateResponse part;
      EXPECT_TRUE(part.ParseFromString(message));
      text += part.text();
      if (part.text_finished()) text += '|';
    }
    return text;
  }
  void ExpectOne(StatusCode code) {
    Await([this] { return backend_->admission.in_flight() == 0; });
    for (size_t other = 0; other < kStatusCodes; ++other) {
      const auto status = static_cast<StatusCode>(other);
      EXPECT_EQ(backend_->Count("pt-en", Method::kStreamTranslate, status), status == code ? 1 : 0)
          << status;
    }
  }

  testing::FakeClock clock_;
  Turnstile at_first_;
  Turnstile at_second_;
  std::string padding_;  // behind each translation of the second model
  Mutex mu_;
  std::vector<models::TranslateInput> seen_ MILLRACE_GUARDED_BY(mu_);
  std::unique_ptr<TestBackend> backend_;
  std::shared_ptr<ServedModel> first_;
  std::shared_ptr<ServedModel> second_;
  std::unique_ptr<TranslationService> service_;
  std::unique_ptr<InferService> other_;
};

TEST_F(PivotTest, ASentenceIsSentWhileTheNextIsInTheFirstModel) {
  Start();
  at_second_.LetAll();
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  std::string text;
  for (int sentence = 1; sentence <= 3; ++sentence) {
    at_first_.Let(sentence);
    const std::optional<std::string> message = call.ReadOne();
    ASSERT_TRUE(message);
    text += TextOf({*message});
    if (sentence < 3) at_first_.AwaitArrived(sentence + 1);
  }
  EXPECT_EQ(text, "<a><b><c>|");
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  ExpectOne(StatusCode::kOk);
}

TEST_F(PivotTest, WhatWaitsGoesToTheSecondModelTogether) {
  Start();
  at_first_.LetAll();
  FakeCall call(Bytes({"abcd", "e"}));
  Begin(call);
  at_second_.AwaitArrived(1);
  Await([this] { return first_->metrics().source_tokens.Value() == 10; });
  at_second_.LetAll();
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), "<a><b><c><d>|<e>|");
  EXPECT_THAT(seen_texts(), ElementsAre(ElementsAre("a"), ElementsAre("b", "c", "d", "e")));
  EXPECT_EQ(second_->metrics().source_tokens.Value(), 10);
  EXPECT_EQ(second_->metrics().target_tokens.Value(), 15);
}

TEST_F(PivotTest, AUnaryCallFillsTheSecondModelsBatches) {
  Start();
  LetAll();
  FakeCall call(Bytes({std::string(40, 'a')}));
  call.Begin(*service_, "Translate");
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  v1::TranslateResponse response;
  ASSERT_TRUE(response.ParseFromString(call.reply()));
  std::string all;
  for (int i = 0; i < 40; ++i) all += "<a>";
  EXPECT_EQ(response.translations(0).text(), all);
  EXPECT_EQ(response.translations(0).source_tokens(), 80);
  EXPECT_EQ(response.translations(0).target_tokens(), 120);
  ASSERT_THAT(seen(), SizeIs(2));
  EXPECT_GE(seen()[0].texts.size(), 32U);
}

TEST_F(PivotTest, ManySentencesStayInOrder) {
  Start();
  LetAll();
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  std::string expected;
  for (int text = 0; text < 3; ++text) {
    for (const char letter : letters) expected += std::string("<") + letter + ">";
    expected += '|';
  }
  FakeCall call(Bytes({letters, letters, letters}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), expected);
}

TEST_F(PivotTest, TwoAtOnceKeepApart) {
  Start();
  LetAll();
  std::barrier start(2);
  const auto client = [&](const std::string& text, const std::string& expected) {
    for (int i = 0; i < kRounds; ++i) {
      FakeCall call(Bytes({text}));
      start.arrive_and_wait();
      Begin(call);
      EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
      EXPECT_EQ(TextOf(call.written()), expected);
    }
  };
  {
    JoiningThread one([&] { client("abc", "<a><b><c>|"); });
    JoiningThread other([&] { client("xyz", "<x><y><z>|"); });
  }
  Await([this] { return backend_->admission.in_flight() == 0; });
  EXPECT_EQ(backend_->Count("pt-en", Method::kStreamTranslate, StatusCode::kOk), 2 * kRounds);
}

TEST_F(PivotTest, ATextOfWhichTheFirstModelMakesNothingKeepsItsPlace) {
  Start(TwoWorkers(), [](models::Request& request) {
    request.Emit(Sentence(0, "a", true));
    request.Emit(Sentence(1, "", false));
    request.Emit(Sentence(1, "", true));
    request.Emit(Sentence(2, "c", true));
    request.Finish(absl::OkStatus());
  });
  LetAll();
  FakeCall call(Bytes({"1", "2", "3"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), "<a>||<c>|");
  v1::StreamTranslateResponse nothing;
  ASSERT_TRUE(nothing.ParseFromString(call.written()[1]));
  EXPECT_EQ(nothing.text_index(), 1U);
  EXPECT_EQ(nothing.source_tokens(), 4);
}

TEST_F(PivotTest, ATranslationBeginsWithItsPrefixBehindWhatIsCopied) {
  Start(TwoWorkers(), [](models::Request& request) {
    models::TranslateOutput copied = Sentence(0, "* ", false);
    copied.source_tokens = 0;
    request.Emit(std::move(copied));
    request.Emit(Sentence(0, "a", false));
    request.Emit(Sentence(0, "b", true));
    request.Emit(Sentence(1, "c", true));
    request.Finish(absl::OkStatus());
  });
  LetAll();
  v1::TranslateRequest request = Request({"1", "2"});
  request.add_target_prefixes("Ja");
  request.add_target_prefixes("Nein");
  FakeCall call(request.SerializeAsString());
  Begin(call);
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), "<* >Ja<a><b>|Nein<c>|");
}

TEST_F(PivotTest, WhatTheFirstModelLostIsToldWithItsSentence) {
  Start(TwoWorkers(), [](models::Request& request) {
    request.Emit(Sentence(0, "a", false));
    models::TranslateOutput other = Sentence(0, "b", true);
    other.lost = {"x"};
    request.Emit(std::move(other));
    request.Finish(absl::OkStatus());
  });
  LetAll();
  FakeCall call(Bytes({"1"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  v1::StreamTranslateResponse part;
  ASSERT_THAT(call.written(), SizeIs(2));
  ASSERT_TRUE(part.ParseFromString(call.written()[1]));
  EXPECT_THAT(part.lost(), ElementsAre("x"));
}

TEST_F(PivotTest, SentencesKeepTheirMarksAsideFromOneModelToTheNext) {
  struct Marks final : models::PivotSentence {};
  const auto marks = std::make_shared<const Marks>();
  Start(TwoWorkers(), [&marks](models::Request& request) {
    EXPECT_TRUE(InputOf(request).for_pivot);
    request.Emit(Sentence(0, "a", false));
    models::TranslateOutput marked = Sentence(0, "b", true);
    marked.pivot_sentence = marks;
    request.Emit(std::move(marked));
    request.Finish(absl::OkStatus());
  });
  at_first_.LetAll();
  FakeCall call(Bytes({"1"}));
  call.Begin(*service_, "Translate");
  at_second_.LetAll();
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  ASSERT_THAT(seen(), SizeIs(1));
  EXPECT_FALSE(seen()[0].for_pivot);
  EXPECT_THAT(seen()[0].pivot_sentences, ElementsAre(nullptr, marks));
}

TEST_F(PivotTest, OnlyAStreamWantsItsFirstSentenceSoon) {
  std::atomic<int> soon{0};
  Start(TwoWorkers(), [&soon](models::Request& request) {
    if (InputOf(request).first_soon) ++soon;
    TranslateLetter(request);
  });
  LetAll();
  FakeCall unary(Bytes({"a"}));
  unary.Begin(*service_, "Translate");
  EXPECT_EQ(unary.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(soon, 0);
  FakeCall stream(Bytes({"a"}));
  Begin(stream);
  EXPECT_EQ(stream.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(soon, 1);
}

TEST_F(PivotTest, AFailureOfTheSecondModelStopsTheFirst) {
  const auto stops_behind_b = [this](models::Request& request) {
    if (at_first_.arrived() == 3) Await([&] { return request.ShouldStop(); });
    TranslateLetter(request);
  };
  Start(TwoWorkers(), stops_behind_b, [this](models::Request& request) {
    if (InputOf(request).texts.back() == "b") throw std::runtime_error("device lost");
    Wrap(request);
  });
  LetAll();
  FakeCall call(Bytes({"abcdef"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kInternal);
  EXPECT_LE(at_first_.arrived(), 3);
  ExpectOne(StatusCode::kInternal);
}

TEST_F(PivotTest, AFailureOfTheFirstModelEndsTheRequestOnceTheSecondHasStopped) {
  const auto fails = [this](models::Request& request) {
    TranslateLetter(request);
    at_second_.AwaitArrived(1);
    throw std::runtime_error("device lost");
  };
  Start(TwoWorkers(), fails,
        [](models::Request& request) { Await([&] { return request.ShouldStop(); }); });
  LetAll();
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kInternal);
  ExpectOne(StatusCode::kInternal);
}

TEST_F(PivotTest, WhatTheSecondModelRefusesEndsTheRequest) {
  Start();
  backend_->Add(TranslatorInfo("en-de", "en", "de"), {.validate = [](const models::Input& input) {
                  return std::get<models::TranslateInput>(input).texts.front() == "b"
                             ? absl::OutOfRangeError("too much")
                             : absl::OkStatus();
                }});
  at_first_.LetAll();
  FakeCall call(Bytes({"b"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd(), absl::OutOfRangeError("too much"));
  ExpectOne(StatusCode::kOutOfRange);
}

TEST_F(PivotTest, AClientThatLeavesStopsBothModels) {
  Start();
  at_first_.Let(1);
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(2);
  at_second_.AwaitArrived(1);
  JoiningThread runs([&] { EXPECT_EQ(call.RunToEnd().code(), StatusCode::kCancelled); });
  call.Leave();
  Await([&] { return call.told_of_cancel(); });
  LetAll();
  runs.join();
  EXPECT_TRUE(seen().empty());
  ExpectOne(StatusCode::kCancelled);
}

TEST_F(PivotTest, AClientThatLeavesInTheFirstModelNeverReachesTheSecond) {
  Start();
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(1);
  JoiningThread runs([&] { EXPECT_EQ(call.RunToEnd().code(), StatusCode::kCancelled); });
  call.Leave();
  Await([&] { return call.told_of_cancel(); });
  LetAll();
  runs.join();
  EXPECT_EQ(at_second_.arrived(), 0);
  ExpectOne(StatusCode::kCancelled);
}

TEST_F(PivotTest, AClientThatLeavesOnceTheFirstModelHasEndedStopsTheSecond) {
  Start();
  at_first_.LetAll();
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_second_.AwaitArrived(1);
  Await([this] { return first_->metrics().source_tokens.Value() == 6; });
  JoiningThread runs([&] { EXPECT_EQ(call.RunToEnd().code(), StatusCode::kCancelled); });
  call.Leave();
  Await([&] { return call.told_of_cancel(); });
  at_second_.LetAll();
  runs.join();
  ExpectOne(StatusCode::kCancelled);
}

TEST_F(PivotTest, AClientThatLeavesTakesBothWaitingJobsWithIt) {
  Start({.workers = 1});
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(1);
  Gate gate;
  AddOther(gate);
  FakeCall holds(InferRequest("other").SerializeAsString());
  holds.Begin(*other_, "ModelInfer");
  at_first_.Let(1);
  gate.AwaitInside();  // the only worker
  ASSERT_EQ(backend_->scheduler.depth(first_->queue()), 1U);
  ASSERT_EQ(backend_->scheduler.depth(second_->queue()), 1U);
  call.Leave();
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kCancelled);
  EXPECT_EQ(backend_->scheduler.depth(first_->queue()), 0U);
  EXPECT_EQ(backend_->scheduler.depth(second_->queue()), 0U);
  gate.Open();
  EXPECT_EQ(holds.RunToEnd(), absl::OkStatus());
  ExpectOne(StatusCode::kCancelled);
}

TEST_F(PivotTest, AClientLeavesAtAnyMoment) {
  Start();
  LetAll();
  for (int i = 0; i < 5 * kRounds; ++i) {
    FakeCall call(Bytes({"abcdefgh"}));
    std::barrier start(2);
    JoiningThread leaves([&] {
      start.arrive_and_wait();
      for (int spin = 0; spin < 20 * (i % kRounds); ++spin) std::this_thread::yield();
      call.Leave();
    });
    start.arrive_and_wait();
    Begin(call);
    const StatusCode code = call.RunToEnd().code();
    EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kCancelled) << code;
  }
  Await([this] { return backend_->admission.in_flight() == 0; });
}

TEST_F(PivotTest, TheDeadlinePassesBetweenTheModels) {
  Start({.workers = 1, .clock = clock_}, [this](models::Request& request) {
    TranslateLetter(request);
    clock_.Advance(std::chrono::hours(2));
  });
  LetAll();
  FakeCall call(Bytes({"a"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(at_second_.arrived(), 0);
  ExpectOne(StatusCode::kDeadlineExceeded);
}

TEST_F(PivotTest, TheDeadlinePassesInBothModels) {
  Start({.workers = 2, .clock = clock_});
  at_first_.Let(1);
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(2);
  at_second_.AwaitArrived(1);
  clock_.Advance(std::chrono::hours(2));
  LetAll();
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kDeadlineExceeded);
  ExpectOne(StatusCode::kDeadlineExceeded);
}

TEST_F(PivotTest, AServerThatStopsEndsWhatWaits) {
  Start();
  at_first_.Let(1);
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(2);
  at_second_.AwaitArrived(1);
  backend_->CloseScheduler();
  LetAll();
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kUnavailable);
  ExpectOne(StatusCode::kUnavailable);
}

TEST_F(PivotTest, ADrainWaitsForBothModels) {
  Start();
  at_first_.Let(1);
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(2);
  backend_->admission.Close();
  LetAll();
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), "<a><b><c>|");
  ExpectOne(StatusCode::kOk);
}

// Each job of the second model is one step.
TEST_F(PivotTest, TheSecondModelWaitsForASlowReader) {
  padding_.assign(4 << 10, ' ');
  Start({.workers = 1, .max_buffered_bytes = 1 << 10});
  LetAll();
  FakeCall call(Bytes({"abcdef"}));
  call.StopReading();
  Begin(call);
  call.AwaitWrite();
  Await([this] { return first_->metrics().source_tokens.Value() == 12; });
  // The only worker serves another request behind all that there is to do.
  Gate open;
  open.Open();
  AddOther(open);
  FakeCall other(InferRequest("other").SerializeAsString());
  other.Begin(*other_, "ModelInfer");
  EXPECT_EQ(other.RunToEnd(), absl::OkStatus());
  EXPECT_THAT(seen_texts(), ElementsAre(ElementsAre("a")));
  call.ReadOn();
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_THAT(call.written(), SizeIs(6));
  ExpectOne(StatusCode::kOk);
}

TEST_F(PivotTest, ASlowReaderThatLeavesEndsBothModels) {
  padding_.assign(4 << 10, ' ');
  Start({.workers = 2, .max_buffered_bytes = 1 << 10});
  at_first_.Let(2);
  at_second_.LetAll();
  FakeCall call(Bytes({"abcdef"}));
  call.StopReading();
  Begin(call);
  call.AwaitWrite();
  at_first_.AwaitArrived(3);
  JoiningThread runs([&] { EXPECT_EQ(call.RunToEnd().code(), StatusCode::kCancelled); });
  call.Leave();
  Await([&] { return call.told_of_cancel(); });
  at_first_.LetAll();
  runs.join();
  ExpectOne(StatusCode::kCancelled);
}

TEST_F(PivotTest, OverHttpGroupsOfTextsFollowOneAnother) {
  Start();
  LetAll();
  for (int i = 0; i < kRounds; ++i) {
    TranslationRequest request;
    request.input.texts = {"ab", "c"};
    request.input.source_language = "pt";
    request.input.target_language = "de";
    auto reply = std::make_shared<TranslateReply>(backend_->services(), "request-id");
    std::vector<TranslationWork> works;
    for (int work = 0; work < 2; ++work)
      works.push_back(*MakeTranslationWork(request, backend_->services()));
    reply->Start(std::move(works));
    std::optional<absl::Status> end;
    while (!end) end = reply->Wait(std::chrono::milliseconds(1));
    EXPECT_EQ(*end, absl::OkStatus());
    const std::vector<TranslationResults::Text> results = reply->TakeResults();
    EXPECT_EQ(results[0].text, "<a><b><a><b>");
    EXPECT_EQ(results[1].text, "<c><c>");
  }
}

}  // namespace
}  // namespace millrace::server
