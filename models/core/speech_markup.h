#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::models {

// The kind of break between two pieces of speech.
enum class SpeechBreak : uint8_t { kNone, kClause, kSentence, kParagraph };

// How a part of a text is spoken.
struct SpeechManner {
  std::string voice = {};     // empty: the input's
  std::string language = {};  // BCP 47; empty: the input's
  float speed = 1;            // a factor of the input's
  float gain_db = 0;          // applied to the samples; -infinity: silent

  friend bool operator==(const SpeechManner&, const SpeechManner&) = default;
};

// A part of a text that is spoken in one manner. Parts cover the text in order, and a sentence does
// not reach across their ends. A part may be empty and have only a pause.
struct SpeechPart {
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
  SpeechManner manner = {};
  // The seconds of silence before it, in place of the usual pause; negative: the usual one.
  double pause = -1;
  SpeechBreak break_before = SpeechBreak::kNone;  // the least break before it
};

// A stretch of a text that stands for something else in the source, or has a pronunciation.
struct SpeechReading {
  size_t begin = 0;  // bytes of the text, at least one
  size_t end = 0;
  std::string written = {};   // the source's text; its times are those of this one word
  std::string phonemes = {};  // the phonemes to speak; empty: the text
  bool is_ipa = false;        // the phonemes are IPA, else the model's own symbols
  std::string place = {};     // in the source, for messages
};

// A byte of the text, and the number of characters of the source before it. The text up to the next
// one is as in the source.
struct SpeechAnchor {
  size_t byte = 0;
  size_t character = 0;
};

// Markup says this of a text. Everything is in the order of the text; readings do not overlap.
struct SpeechMarkup {
  std::vector<SpeechPart> parts = {};  // empty: there is no markup
  std::vector<SpeechReading> readings = {};
  std::vector<SpeechAnchor> anchors = {};
  double pause_after = 0;  // seconds of silence behind the text
};

}  // namespace millrace::models
