#include "models/text/sentence_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fakes/linear_time.h"

namespace millrace::models {
namespace {

// Returns the output after each piece, the rest last.
std::vector<std::string> Feed(const std::vector<std::string>& pieces) {
  SentenceStream stream;
  std::vector<std::string> out;
  for (const std::string& piece : pieces) out.push_back(stream.Push(piece));
  out.push_back(stream.TakeRest());
  EXPECT_EQ(stream.TakeRest(), "");
  return out;
}

using Strings = std::vector<std::string>;

TEST(SentenceStreamTest, ASentenceEndsWhenTheNextBegins) {
  EXPECT_EQ(Feed({"It is ", "done.", " ", "We", " can go."}),
            (Strings{"", "", "", "It is done. ", "", "We can go."}));
}

TEST(SentenceStreamTest, SeveralInOnePieceComeTogether) {
  EXPECT_EQ(Feed({"One. Two! Three? Fo", "ur."}), (Strings{"One. Two! Three? ", "", "Four."}));
}

TEST(SentenceStreamTest, AnAbbreviationOrANumberEndsNothing) {
  EXPECT_EQ(Feed({"Ask Dr. ", "Smith about 3.", "5 percent."}),
            (Strings{"", "", "", "Ask Dr. Smith about 3.5 percent."}));
}

TEST(SentenceStreamTest, ALineBreakEndsASentenceAtOnce) {
  EXPECT_EQ(Feed({"A title\n", "Then text."}), (Strings{"A title\n", "", "Then text."}));
}

TEST(SentenceStreamTest, AWrappedLineEndsNoSentence) {
  EXPECT_EQ(
      Feed({"This sentence was wrapped by an\n", "email program at the\n", "margin. It ends."}),
      (Strings{"", "", "This sentence was wrapped by an\nemail program at the\nmargin. ",
               "It ends."}));
  // The next letter decides: a capital one begins a line of verse or a text of its own.
  EXPECT_EQ(Feed({"A heading without a stop\n", "Then", " text."}),
            (Strings{"", "A heading without a stop\n", "", "Then text."}));
  EXPECT_EQ(Feed({"A paragraph without a stop\n\n", "then"}),
            (Strings{"A paragraph without a stop\n\n", "", "then"}));
  EXPECT_EQ(Feed({"What this sentence says:\n", "- one"}),
            (Strings{"What this sentence says:\n", "", "- one"}));
}

TEST(SentenceStreamTest, WrappedTextIsTheSameCharacterByCharacter) {
  const std::string text =
      "This sentence was wrapped by an\nemail program at the\nmargin. It ends.\nA list\nof two";
  SentenceStream stream;
  Strings ended;
  for (const char c : text) {
    if (std::string part = stream.Push(std::string_view(&c, 1)); !part.empty())
      ended.push_back(std::move(part));
  }
  EXPECT_EQ(ended, (Strings{"This sentence was wrapped by an\nemail program at the\nmargin. ",
                            "It ends.\n", "A list\n"}));
  EXPECT_EQ(stream.TakeRest(), "of two");
}

TEST(SentenceStreamTest, CharactersOneByOneGiveTheSameText) {
  const std::string text =
      "He left at 5 p.m. on Monday. She said: \"Stay!\" Nobody — not one — did.\nEnd";
  SentenceStream stream;
  std::string joined;
  size_t parts = 0;
  for (const char c : text) {
    const std::string ended = stream.Push(std::string_view(&c, 1));
    parts += ended.empty() ? 0 : 1;
    joined += ended;
  }
  joined += stream.TakeRest();
  EXPECT_EQ(joined, text);
  EXPECT_GE(parts, 3U);
}

TEST(SentenceStreamTest, ALongSentenceIsCutAtItsLastPause) {
  std::string start = "This sentence goes on, ";
  while (start.size() <= SentenceStream::kMaxSentenceBytes) start += "and on and ";
  const Strings out = Feed({start});
  EXPECT_EQ(out[0], "This sentence goes on,");
  EXPECT_EQ(out[0] + out[1], start);
}

TEST(SentenceStreamTest, WithoutAPauseItIsCutAtASpace) {
  std::string words;
  while (words.size() <= SentenceStream::kMaxSentenceBytes) words += "word ";
  const Strings out = Feed({words + "unfini", "shed"});
  EXPECT_EQ(out[0], words.substr(0, words.size() - 1));
  EXPECT_EQ(out[0] + out[1] + out[2], words + "unfinished");
}

TEST(SentenceStreamTest, AWordWithoutEndIsCutBetweenCharacters) {
  std::string word;
  for (int i = 0; i < 500; ++i) word += "\u6771";
  const Strings out = Feed({word});
  EXPECT_EQ(out, (Strings{word.substr(0, word.size() - 3), "\u6771"}));
}

TEST(SentenceStreamTest, ASentenceOfHindiIsNotCutForItsBytes) {
  std::string sentence;
  while (sentence.size() < 500) sentence += "भारत के उत्तर में ";
  SentenceStream stream;
  EXPECT_EQ(stream.Push(sentence), "");
  EXPECT_EQ(stream.Push("है।अब"), sentence + "है।");
}

TEST(SentenceStreamTest, ALongJapaneseSentenceIsCutAtAPause) {
  std::string clause;
  for (int i = 0; i < 30; ++i) clause += "\u3042";
  const std::string pause = "\u3001";
  EXPECT_EQ(Feed({clause + pause + clause + pause + clause}),
            (Strings{clause + pause + clause + pause, clause}));
}

TEST(SentenceStreamTest, AWordOfAMegabyteInSmallPiecesTakesLinearTime) {
  ExpectLinearTime("ab", 1'000'000, [](const std::string& text) {
    SentenceStream stream;
    size_t bytes = 0;
    for (size_t at = 0; at < text.size(); at += 2) bytes += stream.Push(text.substr(at, 2)).size();
    EXPECT_EQ(bytes + stream.TakeRest().size(), text.size());
  });
}

TEST(SentenceStreamTest, MegabytesInSmallPiecesTakeLinearTime) {
  constexpr std::string_view kPiece = "words of it. Then ";
  ExpectLinearTime(kPiece, 3'600'000, [&](const std::string& text) {
    SentenceStream stream;
    size_t bytes = 0;
    for (size_t at = 0; at < text.size(); at += kPiece.size()) {
      bytes += stream.Push(text.substr(at, kPiece.size())).size();
    }
    EXPECT_EQ(bytes + stream.TakeRest().size(), text.size());
  });
}

}  // namespace
}  // namespace millrace::models
