#include "models/seq2seq/aten/cached_transformer.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "models/seq2seq/seq2seq_engine.h"
#include "models/seq2seq/upload_weights.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/seq2seq/near_tie.h"
#include "tests/unit/models/seq2seq/tiny_seq2seq.h"

namespace millrace::seq2seq {
namespace {

using Tokens = std::vector<int32_t>;

constexpr size_t kSlots = 16384;
constexpr size_t kTargetTokens = 18;
// Sources of 1 to 45 random tokens.
std::vector<Tokens> RandomSources(size_t count) {
  std::mt19937 random(7);
  std::vector<Tokens> sources;
  for (size_t i = 0; i < count; ++i) {
    Tokens& source = sources.emplace_back(1 + random() % 44);
    for (int32_t& token : source) token = static_cast<int32_t>(3 + random() % 55);
    source.push_back(0);
  }
  return sources;
}

class CachedTransformerTest : public ::testing::TestWithParam<TinyKind> {
 protected:
  CachedTransformerTest() : cached_(Upload(), kSlots, "tiny", /*few_shapes=*/false) {}

  static TransformerWeights Upload(
      const bergamot::TinyTensors& tensors = MakeTinySeq2Seq(GetParam())) {
    const testing::TemporaryFolder folder;
    const auto file = folder.path() / "weights.safetensors";
    bergamot::WriteSafetensors(file, tensors);
    const auto weights = Seq2SeqWeights::Load(file, TinyConfig(GetParam()));
    return UploadWeights(*weights, TinyConfig(GetParam()), runtime::DeviceType::kCpu);
  }

  struct Sentence {
    Tokens source_slots, slots, history;
  };
  // Sources that were encoded, the first token of each translation being the start.
  std::vector<Sentence> Begin(const std::vector<Tokens>& sources) {
    std::vector<Sentence> sentences;
    std::vector<CachedTransformer::Source> encode;
    for (const Tokens& source : sources) {
      sentences.push_back({cached_.slots()->Take(source.size(), this),
                           cached_.slots()->Take(kTargetTokens + 1, this),
                           {TinyTask(GetParam()).start}});
    }
    for (size_t i = 0; i < sources.size(); ++i)
      encode.push_back({sources[i], sentences[i].source_slots});
    cached_.Encode(encode, context_);
    return sentences;
  }
  static CachedTransformer::Row RowOf(const Sentence& sentence) {
    return {.token = sentence.history.back(),
            .position = sentence.history.size() - 1,
            .path = sentence.slots,
            .source = sentence.source_slots,
            .forced = {}};
  }
  // The likeliest tokens, an end and what follows it included.
  std::vector<Tokens> Translate(const std::vector<Tokens>& sources, size_t tokens_at_once) {
    std::vector<Sentence> sentences = Begin(sources);
    while (sentences.front().history.size() <= kTargetTokens) {
      std::vector<CachedTransformer::Row> rows;
      for (const Sentence& sentence : sentences) rows.push_back(RowOf(sentence));
      const auto tokens = cached_.Continue(rows, tokens_at_once, context_);
      for (size_t i = 0; i < sentences.size(); ++i) {
        Tokens& history = sentences[i].history;
        history.insert(history.end(), tokens[i].begin(), tokens[i].end());
      }
    }
    std::vector<Tokens> translations;
    for (Sentence& sentence : sentences) {
      cached_.slots()->Give(sentence.source_slots);
      cached_.slots()->Give(sentence.slots);
      sentence.history.resize(kTargetTokens + 1);
      translations.emplace_back(sentence.history.begin() + 1, sentence.history.end());
    }
    return translations;
  }
  // The same by the engine of the CPU.
  std::vector<Tokens> Expected(const std::vector<Tokens>& sources) {
    Seq2SeqConfig config = TinyConfig(GetParam());
    config.forced_end = false;
    const Seq2SeqEngine engine(MakeTinyNetwork(GetParam()), config, 64);
    std::vector<translation::SentenceJob> jobs(sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      jobs[i].source = sources[i];
      jobs[i].max_target = kTargetTokens;
    }
    engine.Translate(
        jobs, [](size_t) { return false; }, context_);
    std::vector<Tokens> translations;
    for (const translation::SentenceJob& job : jobs) translations.push_back(job.target);
    return translations;
  }
  // By how much the likeliest next token leads this one.
  float Lead(const Sentence& sentence, int32_t token) {
    const CachedTransformer::Row row = RowOf(sentence);
    const at::Tensor scores = cached_.Score({&row, 1}, context_);
    const float* const first = scores.const_data_ptr<float>();
    return *std::max_element(first, first + scores.size(1)) - first[token];
  }

  const c10::InferenceMode inference_;
  models::FakeWorkerContext context_;
  CachedTransformer cached_;
};

TEST_P(CachedTransformerTest, TheLikeliestTokensAreThoseOfTheCpusOwnEngine) {
  const std::vector<Tokens> sources = RandomSources(150);
  std::vector<Tokens> expected = Expected(sources);
  for (Tokens& tokens : expected) {
    if (tokens.size() < kTargetTokens) tokens.push_back(TinyTask(GetParam()).end);
  }
  // Each sentence goes on with the tokens that are expected, so that all of them are compared.
  std::vector<Sentence> sentences = Begin(sources);
  size_t tokens = 0;
  size_t near_ties = 0;
  for (size_t k = 0; k < kTargetTokens; ++k) {
    std::vector<size_t> at_work;
    std::vector<CachedTransformer::Row> rows;
    for (size_t i = 0; i < sentences.size(); ++i) {
      if (k >= expected[i].size()) continue;
      at_work.push_back(i);
      rows.push_back(RowOf(sentences[i]));
    }
    const auto likeliest = cached_.Continue(rows, 1, context_);
    for (size_t row = 0; row < at_work.size(); ++row) {
      Sentence& sentence = sentences[at_work[row]];
      const int32_t token = expected[at_work[row]][k];
      if (likeliest[row].front() != token) {
        ++near_ties;
        EXPECT_LT(Lead(sentence, token), kNearTie)
            << "sentence " << at_work[row] << ", token " << k << ": " << likeliest[row].front()
            << " in place of " << token;
      }
      sentence.history.push_back(token);
      ++tokens;
    }
  }
  EXPECT_GT(tokens, 5 * sources.size());
  EXPECT_LE(near_ties, tokens / 200);
}

TEST_P(CachedTransformerTest, TranslationsGiveTheirSlotsBack) {
  Translate(RandomSources(3), 1);
  EXPECT_EQ(cached_.slots()->used(), 0u);
}

TEST_P(CachedTransformerTest, SeveralTokensAtOnceAreThoseOfOneAtATime) {
  const std::vector<Tokens> sources = RandomSources(20);
  EXPECT_EQ(Translate(sources, CachedTransformer::kMaxTokens), Translate(sources, 1));
}

TEST_P(CachedTransformerTest, GivenTokensComeInPlaceOfTheLikeliest) {
  const std::vector<Tokens> sources = RandomSources(2);
  const std::vector<Sentence> sentences = Begin(sources);
  const Tokens forced = {33, 5};
  std::vector<CachedTransformer::Row> rows = {RowOf(sentences[0]), RowOf(sentences[1])};
  const auto free = cached_.Continue(rows, 4, context_);
  rows[0].forced = forced;
  const auto tokens = cached_.Continue(rows, 4, context_);
  EXPECT_EQ((Tokens{tokens[0][0], tokens[0][1]}), forced);
  EXPECT_NE(tokens[0], free[0]);
  EXPECT_EQ(tokens[1], free[1]);
}

TEST_P(CachedTransformerTest, AForbiddenTokenLeavesItsPlaceToTheNextLikeliest) {
  const std::vector<Tokens> sources = RandomSources(2);
  const std::vector<Sentence> sentences = Begin(sources);
  std::vector<CachedTransformer::Row> rows = {RowOf(sentences[0]), RowOf(sentences[1])};
  const auto free = cached_.Continue(rows, 1, context_);
  const at::Tensor scores = cached_.Score(rows, context_);
  auto* const row = scores.mutable_data_ptr<float>();
  row[free[0][0]] = -std::numeric_limits<float>::infinity();
  const Tokens forbidden = {-2 - free[0][0]};
  const auto next = static_cast<int32_t>(std::max_element(row, row + scores.size(1)) - row);
  rows[0].forced = forbidden;
  EXPECT_EQ(cached_.Continue(rows, 1, context_), (std::vector<Tokens>{{next}, free[1]}));
}

TEST_P(CachedTransformerTest, ScoresAreThoseTheLikeliestTokenIsTakenFrom) {
  const std::vector<Tokens> sources = RandomSources(3);
  const std::vector<Sentence> sentences = Begin(sources);
  std::vector<CachedTransformer::Row> rows;
  for (const Sentence& sentence : sentences) rows.push_back(RowOf(sentence));
  const at::Tensor scores = cached_.Score(rows, context_);
  const auto tokens = cached_.Continue(rows, 1, context_);
  for (size_t i = 0; i < rows.size(); ++i) {
    const float* row = scores.const_data_ptr<float>() + static_cast<int64_t>(i) * scores.size(1);
    const auto best = std::max_element(row, row + scores.size(1)) - row;
    EXPECT_EQ(tokens[i], Tokens{static_cast<int32_t>(best)});
    // The padding of the vocabulary never comes.
    EXPECT_TRUE(std::isinf(row[TinyTask(GetParam()).tokens]));
  }
}

TEST_P(CachedTransformerTest, WhatIsNoNumberStaysWithItsSentence) {
  constexpr int32_t kBroken = 33;
  bergamot::TinyTensors tensors = MakeTinySeq2Seq(GetParam());
  tensors["output"] = tensors.at("embeddings");
  std::string& embeddings = tensors.at("embeddings").bytes;
  const size_t row = static_cast<size_t>(TinyConfig(GetParam()).dim) * sizeof(float);
  std::fill_n(embeddings.begin() + static_cast<std::ptrdiff_t>(kBroken * row), row, '\xFF');
  const CachedTransformer broken(Upload(tensors), kSlots, "broken", /*few_shapes=*/false);
  const Tokens source = {5, 6, 0};
  const Tokens forced(4, kBroken);
  const auto translate = [&](std::span<const int32_t> given) {
    const Tokens source_slots = broken.slots()->Take(source.size(), this);
    const Tokens slots = broken.slots()->Take(9, this);
    const CachedTransformer::Source encoded = {source, source_slots};
    broken.Encode({&encoded, 1}, context_);
    Tokens tokens = {TinyTask(GetParam()).start};
    while (tokens.size() < 9) {
      const CachedTransformer::Row next = {.token = std::max(tokens.back(), 0),
                                           .position = tokens.size() - 1,
                                           .path = slots,
                                           .source = source_slots,
                                           .forced = given};
      const Tokens four = broken.Continue({&next, 1}, 4, context_).front();
      tokens.insert(tokens.end(), four.begin(), four.end());
    }
    broken.slots()->Give(slots);
    broken.slots()->Give(source_slots);
    return tokens;
  };
  const Tokens before = translate({});
  EXPECT_EQ(std::ranges::count(before, -1), 0);
  translate(forced);  // leaves its slots without numbers
  EXPECT_EQ(translate({}), before);
}

TEST_P(CachedTransformerTest, SlotsOfOthersDoNotMatter) {
  const std::vector<Tokens> sources = RandomSources(8);
  const std::vector<Tokens> alone = Translate({sources[3]}, 2);
  EXPECT_EQ(Translate(sources, 2)[3], alone[0]);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CachedTransformerTest,
                         ::testing::Values(TinyKind::kMarian, TinyKind::kM2m100),
                         [](const auto& info) {
                           return info.param == TinyKind::kMarian ? "marian" : "m2m100";
                         });

}  // namespace
}  // namespace millrace::seq2seq
