#include "models/text/english/chat_words.h"

#include <algorithm>
#include <array>
#include <string>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

struct ChatWord {
  std::string_view written;
  std::string_view spoken;
};

// Sorted by bytes.
constexpr std::array<ChatWord, 44> kChatWords = {{{"afaik", "as far as I know"},
                                                  {"bc", "because"},
                                                  {"brb", "be right back"},
                                                  {"brr", "burr"},
                                                  {"btw", "by the way"},
                                                  {"cmd", "command"},
                                                  {"fwiw", "for what it's worth"},
                                                  {"gr8", "great"},
                                                  {"grr", "gur"},
                                                  {"gtg", "got to go"},
                                                  {"hbu", "how about you"},
                                                  {"icymi", "in case you missed it"},
                                                  {"idc", "I don't care"},
                                                  {"idk", "I don't know"},
                                                  {"iirc", "if I remember correctly"},
                                                  {"ikr", "I know right"},
                                                  {"imho", "in my humble opinion"},
                                                  {"imo", "in my opinion"},
                                                  {"irl", "in real life"},
                                                  {"jk", "just kidding"},
                                                  {"lmk", "let me know"},
                                                  {"msg", "message"},
                                                  {"msgs", "messages"},
                                                  {"ngl", "not gonna lie"},
                                                  {"nvm", "never mind"},
                                                  {"ofc", "of course"},
                                                  {"omw", "on my way"},
                                                  {"pls", "please"},
                                                  {"plz", "please"},
                                                  {"ppl", "people"},
                                                  {"rly", "really"},
                                                  {"shh", "shush"},
                                                  {"sk8", "skate"},
                                                  {"smh", "shaking my head"},
                                                  {"srsly", "seriously"},
                                                  {"str8", "straight"},
                                                  {"tbh", "to be honest"},
                                                  {"thx", "thanks"},
                                                  {"tmrw", "tomorrow"},
                                                  {"ttyl", "talk to you later"},
                                                  {"tysm", "thank you so much"},
                                                  {"wdym", "what do you mean"},
                                                  {"yw", "you're welcome"},
                                                  {"zz", "zizz"}}};
static_assert(std::ranges::is_sorted(kChatWords, {}, &ChatWord::written));

const ChatWord* FindChatWord(std::string_view word) {
  const auto found = std::ranges::lower_bound(kChatWords, word, {}, &ChatWord::written);
  return found != kChatWords.end() && found->written == word ? &*found : nullptr;
}

// Words that have a double vowel before it is drawn out: "coool".
bool HasDoubleVowel(std::string_view word) {
  return IsOneOf(word, "been", "boo", "cool", "feel", "food", "fool", "freedom", "good", "keep",
                 "need", "room", "see", "soon", "sweet", "too");
}

// Returns the word with at most `most` equal letters in a row.
std::string Shortened(std::string_view word, size_t most) {
  std::string text;
  size_t run = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    run = i > 0 && AsciiLower(word[i]) == AsciiLower(word[i - 1]) ? run + 1 : 1;
    if (run <= most) text += word[i];
  }
  return text;
}

// Returns true if a letter stands there three times in a row.
bool IsDrawnOut(std::string_view word) {
  for (size_t i = 2; i < word.size(); ++i) {
    const char c = AsciiLower(word[i]);
    if (IsAsciiLower(c) && c == AsciiLower(word[i - 1]) && c == AsciiLower(word[i - 2]))
      return true;
  }
  return false;
}

}  // namespace

std::optional<Reading> ReadChatWord(std::string_view word, size_t end) {
  const bool drawn = IsDrawnOut(word) && word != "WWW" && word != "www" && word != "AAA" &&
                     word.find_first_not_of("IVXLCDM") != std::string_view::npos;
  std::string lower = AsciiLower(word);
  if (drawn) {
    const std::string twice = Shortened(lower, 2);
    lower = HasDoubleVowel(twice) || FindChatWord(twice) != nullptr ? twice : Shortened(lower, 1);
  } else if (word != lower && word != AsciiCapitalised(word)) {
    return std::nullopt;
  }
  Reading reading{end, {}};
  if (const ChatWord* known = FindChatWord(lower); known != nullptr) {
    reading.AppendEach(known->spoken);
    return reading;
  }
  if (!drawn || lower.size() < 2) return std::nullopt;
  reading.Append(lower);
  return reading;
}

}  // namespace millrace::models
