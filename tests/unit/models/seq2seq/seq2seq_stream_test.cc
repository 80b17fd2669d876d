// Requests through a TranslationBatch on both engines of encoder-decoder transformers: what a
// client was sent holds, whatever happens behind it.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/seq2seq/aten_seq2seq_engine.h"
#include "models/seq2seq/seq2seq_engine.h"
#include "models/translation/load_piece_model.h"
#include "models/translation/translation_batch.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/seq2seq/tiny_seq2seq.h"

namespace millrace::seq2seq {
namespace {

constexpr TinyKind kKind = TinyKind::kM2m100;
constexpr char kLongText[] = "the cat sat on the mat the old cat sat on the mat";

enum class Engine { kOwn, kAten };

class PartsSink final : public models::OutputSink {
 public:
  void Emit(models::Output output) override {
    text += std::get<models::TranslateOutput>(output).text;
  }

  std::string text;
};

// Fails in the middle of a call, as a device does that has no memory left.
class FailingEngine final : public translation::TranslationEngine {
 public:
  explicit FailingEngine(std::unique_ptr<const translation::TranslationEngine> engine)
      : engine_(std::move(engine)) {}

  void Advance(std::span<translation::SentenceJob* const> jobs, size_t max_tokens,
               absl::FunctionRef<bool(size_t)> should_stop,
               runtime::WorkerContext& context) const override {
    engine_->Advance(
        jobs, max_tokens,
        [&](size_t job) {
          if (asked_until_failure-- == 0) throw std::runtime_error("out of memory");
          return should_stop(job);
        },
        context);
  }

  mutable int asked_until_failure = -1;  // negative: none

 private:
  const std::unique_ptr<const translation::TranslationEngine> engine_;
};

class Seq2SeqStreamTest : public ::testing::TestWithParam<std::tuple<Engine, int>> {
 protected:
  void SetUp() override {
    search_.beam_size = std::get<1>(GetParam());
    const auto pieces_file = bergamot::TestDataFolder() / "tiny.spm";
    const auto pieces = translation::LoadPieceModel(pieces_file);
    ASSERT_TRUE(pieces.ok()) << pieces.status();
    std::string tokens(4, '\n');
    for (int32_t id = 2; id < bergamot::kTinyTokens; ++id) tokens += (*pieces)->TextOf(id) + "\n";
    const auto words_file = folder_.path() / "words.txt";
    std::ofstream(words_file, std::ios::binary) << tokens;
    auto vocabulary = translation::Vocabulary::LoadWithTable(
        pieces_file, words_file, TinyTask(kKind).tokens, TinyConfig(kKind).unknown);
    ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
    vocabularies_.source = vocabularies_.target = *std::move(vocabulary);
    SetEngine(std::get<0>(GetParam()));
  }

  void SetEngine(Engine kind, int64_t cache_bytes = 8 << 20) {
    std::unique_ptr<const translation::TranslationEngine> engine;
    if (kind == Engine::kOwn) {
      engine = std::make_unique<Seq2SeqEngine>(MakeTinyNetwork(kKind), TinyConfig(kKind), 64);
    } else {
      const auto file = folder_.path() / "weights.safetensors";
      bergamot::WriteSafetensors(file, MakeTinySeq2Seq(kKind));
      engine = MakeAtenSeq2SeqEngine(
          *Seq2SeqWeights::Load(file, TinyConfig(kKind)), TinyConfig(kKind),
          {.device = runtime::DeviceType::kCpu, .model = "tiny", .cache_bytes = cache_bytes});
    }
    engine_ = std::make_unique<FailingEngine>(std::move(engine));
  }
  std::unique_ptr<models::Request> MakeRequest(models::TranslateInput input, PartsSink& sink) {
    return std::make_unique<models::Request>(std::move(input), TimePoint::max(), sink, clock_);
  }
  // One token more.
  void Step(const std::vector<models::Request*>& requests) {
    translation::TranslationBatch batch(
        requests, {.max_source_tokens = 32, .time = {}},
        [this](const models::TranslateInput&) {
          return translation::TranslationSettings{
              .frame = {.before = {60}, .after = {2}, .prefix = {61}},
              .search = search_,
              .min_target = min_target_,
              .max_target = 62};
        },
        vocabularies_, *engine_);
    batch.Forward(context_);
    batch.Complete();
  }
  std::string Translate(models::TranslateInput input) {
    PartsSink sink;
    const auto request = MakeRequest(std::move(input), sink);
    while (!request->outcome()) Step({request.get()});
    EXPECT_TRUE(request->outcome()->ok()) << *request->outcome();
    return sink.text;
  }

  const testing::TemporaryFolder folder_;
  testing::FakeClock clock_;
  translation::SearchOptions search_;
  size_t min_target_ = 30;
  translation::Vocabularies vocabularies_;
  std::unique_ptr<FailingEngine> engine_;
  models::FakeWorkerContext context_;
};

TEST_P(Seq2SeqStreamTest, AFailureInTheMiddleOfAStreamChangesNothing) {
  const std::string expected = Translate({.texts = {kLongText}});
  PartsSink sinks[2];
  const auto stream = MakeRequest({.texts = {kLongText}, .partial = true}, sinks[0]);
  const auto other = MakeRequest({.texts = {"the cat. the mat. the cat sat"}}, sinks[1]);
  int failures = 0;
  for (size_t sent = 0; !stream->outcome();) {
    Step({stream.get()});
    EXPECT_TRUE(expected.starts_with(sinks[0].text)) << sinks[0].text;
    if (std::exchange(sent, sinks[0].text.size()) == sinks[0].text.size() || failures == 4)
      continue;
    if (stream->outcome()) break;
    // More was sent. Then a step in company fails, and the next is without it.
    engine_->asked_until_failure = 5;
    EXPECT_THROW(
        {
          for (int i = 0; i < 100; ++i) Step({stream.get(), other.get()});
        },
        std::runtime_error);
    ++failures;
  }
  EXPECT_EQ(failures, 4);
  EXPECT_EQ(sinks[0].text, expected);
}

TEST_P(Seq2SeqStreamTest, AStreamThatNobodyReadsLeavesItsPlaceToOthers) {
  std::string document;
  for (int i = 0; i < 24; ++i) document += std::string(kLongText) + ".\n\n";
  const std::string expected = Translate({.texts = {document}});
  const std::string expected_of_other = Translate({.texts = {kLongText}});
  SetEngine(std::get<0>(GetParam()), 1);  // room for few of its sentences
  PartsSink sinks[2];
  const auto stalled = MakeRequest({.texts = {document}, .partial = true}, sinks[0]);
  while (sinks[0].text.empty()) Step({stalled.get()});
  ASSERT_FALSE(stalled->outcome());
  const auto other = MakeRequest({.texts = {kLongText}}, sinks[1]);
  const auto step_other = [&] {
    for (int i = 0; i < 100 && !other->outcome(); ++i) Step({other.get()});
    return other->outcome().has_value();
  };
  EXPECT_EQ(step_other(), std::get<0>(GetParam()) == Engine::kOwn);
  stalled->state()->Suspend();  // as when it is parked
  EXPECT_TRUE(step_other());
  EXPECT_EQ(sinks[1].text, expected_of_other);
  while (!stalled->outcome()) {
    Step({stalled.get()});
    EXPECT_TRUE(expected.starts_with(sinks[0].text));
  }
  EXPECT_EQ(sinks[0].text, expected);
}

TEST_P(Seq2SeqStreamTest, TagsStandWhereTheCpusOwnEnginePutsThem) {
  min_target_ = 0;
  // No near tie decides these texts: they come out the same when each weight is off by up to 1e-4
  // of itself, a thousand times what instruction sets round otherwise.
  const models::TranslateInput input = {
      .texts =
          {"<p>the <b>old</b> cat <i>sat</i> on the mat</p> <p>the mat <a href=x>the cat</a></p>",
           "the <code>x y</code> cat sat <br>on the <em>mat</em>. <u>the cat</u> sat"},
      .format = models::TextFormat::kHtml};
  const std::string text = Translate(input);
  EXPECT_NE(text.find("<b>"), std::string::npos);
  SetEngine(Engine::kOwn);
  EXPECT_EQ(Translate(input), text);
}

INSTANTIATE_TEST_SUITE_P(All, Seq2SeqStreamTest,
                         ::testing::Combine(::testing::Values(Engine::kOwn, Engine::kAten),
                                            ::testing::Values(1, 4)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == Engine::kOwn ? "own_"
                                                                                      : "aten_") +
                                  (std::get<1>(info.param) == 1 ? "greedy" : "beam");
                         });

}  // namespace
}  // namespace millrace::seq2seq
