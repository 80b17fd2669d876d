// Sentences of languages that are written without spaces.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "models/translation/translation_batch.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/unit/models/bergamot/tiny_model.h"
#include "tests/unit/models/translation/translation_batch_fixture.h"

namespace millrace::translation {
namespace {

// Translates the sentences that it knows.
class TableEngine final : public TranslationEngine {
 public:
  TableEngine(const Vocabularies& vocabularies, std::map<std::string, std::string> table)
      : vocabularies_(vocabularies), table_(std::move(table)) {}

  void Advance(std::span<SentenceJob* const> jobs, size_t, absl::FunctionRef<bool(size_t)>,
               runtime::WorkerContext&) const override {
    for (SentenceJob* job : jobs) {
      const std::span<const int32_t> source(job->source);
      const auto found = table_.find(vocabularies_.source->Decode(source.first(source.size() - 1)));
      if (found == table_.end()) {
        ADD_FAILURE() << vocabularies_.source->Decode(source);
      } else {
        job->target = vocabularies_.target->Encode(found->second, 100).tokens;
      }
      job->done = true;
    }
  }

 private:
  const Vocabularies& vocabularies_;
  const std::map<std::string, std::string> table_;
};

// Sentences between a language with spaces and one without. Those in capitals are read in small
// letters, which are all that the vocabulary has; before a small letter none would end.
class UnspacedTranslationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    english_ = Load("tiny.spm", bergamot::kTinyTokens);
    chinese_ = Load("tiny-zh.spm", kChineseTokens);
  }

  std::string ToChinese(const std::string& text,
                        models::TextFormat format = models::TextFormat::kText) {
    return Translate({english_, chinese_}, "en", "zh", {.texts = {text}, .format = format},
                     {{"the cat.", "猫。"}, {"the dog ran!", "狗去了！"}});
  }
  std::string ToEnglish(const std::string& text,
                        models::TextFormat format = models::TextFormat::kText) {
    return Translate({chinese_, english_}, "zh", "en", {.texts = {text}, .format = format},
                     {{"猫。", "the cat."}, {"狗去了！", "the dog ran!"}});
  }

 private:
  static constexpr int64_t kChineseTokens = 81;

  static std::shared_ptr<const Vocabulary> Load(const std::string& name, int64_t tokens) {
    auto loaded = Vocabulary::Load(bergamot::TestDataFolder() / name, tokens);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded.ok() ? *std::move(loaded) : nullptr;
  }

  static std::string Translate(const Vocabularies& vocabularies, const std::string& source,
                               const std::string& target, models::TranslateInput input,
                               std::map<std::string, std::string> table) {
    const TableEngine engine(vocabularies, std::move(table));
    millrace::testing::FakeClock clock;
    models::FakeWorkerContext context;
    TranslationSink sink;
    models::Request request(std::move(input), TimePoint::max(), sink, clock);
    models::Request* requests[] = {&request};
    const auto settings_of = [&](const models::TranslateInput&) {
      return TranslationSettings{
          .frame = {.after = {0}}, .source_language = source, .target_language = target};
    };
    while (!request.outcome()) {
      TranslationBatch batch(requests, {}, settings_of, vocabularies, engine);
      batch.Forward(context);
      batch.Complete();
    }
    EXPECT_TRUE(request.outcome()->ok()) << *request.outcome();
    return sink.Text();
  }

  std::shared_ptr<const Vocabulary> english_;
  std::shared_ptr<const Vocabulary> chinese_;
};

TEST_F(UnspacedTranslationTest, ChineseHasNoSpaceBetweenSentences) {
  EXPECT_EQ(ToChinese("THE CAT. THE DOG RAN!"), "猫。狗去了！");
  EXPECT_EQ(ToChinese("the cat.\nthe dog ran!\n\n  the cat. "), "猫。\n狗去了！\n\n  猫。");
  EXPECT_EQ(ToChinese("the cat."), "猫。");
}

TEST_F(UnspacedTranslationTest, EnglishHasASpaceBetweenSentencesOfChinese) {
  EXPECT_EQ(ToEnglish("猫。狗去了！猫。"), "the cat. the dog ran! the cat.");
  EXPECT_EQ(ToEnglish("猫。\n狗去了！"), "the cat.\nthe dog ran!");
  EXPECT_EQ(ToEnglish("猫。 狗去了！"), "the cat. the dog ran!");
  EXPECT_EQ(ToEnglish("猫。"), "the cat.");
}

TEST_F(UnspacedTranslationTest, SentencesOfMarkupAreJoinedAlike) {
  constexpr auto kHtml = models::TextFormat::kHtml;
  EXPECT_EQ(ToChinese("<p>THE CAT. <b>THE DOG RAN!</b></p> <p>the cat.</p>", kHtml),
            "<p>猫。<b>狗去了！</b></p> <p>猫。</p>");
  EXPECT_EQ(ToEnglish("<p>猫。<b>狗去了！</b></p><p>猫。</p>", kHtml),
            "<p>the cat. <b>the dog ran!</b></p><p>the cat.</p>");
}

TEST_F(UnspacedTranslationTest, WhatIsCopiedStaysAsItIsWritten) {
  EXPECT_EQ(ToChinese("THE CAT. 2021. THE DOG RAN!"), "猫。2021. 狗去了！");
}

}  // namespace
}  // namespace millrace::translation
