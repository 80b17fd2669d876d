#pragma once

#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "models/core/request.h"
#include "models/core/strings.h"
#include "models/speech/speech_reader.h"
#include "models/text/phoneme_words.h"
#include "models/text/text_place.h"
#include "models/text/unicode.h"

namespace millrace::speech {

class NoSink final : public models::OutputSink {
 public:
  void Emit(models::Output) override {}
};

// Refuses '#' and says the letters of a text in capitals, between marks of 0, each one followed by
// a 0; knows A to Z, a space and the usual marks.
class LetterReader final : public SpeechReader {
 public:
  absl::StatusOr<models::PhonemeText> ToPhonemes(std::string_view sentence,
                                                 std::string_view /*language*/,
                                                 bool /*with_words*/) const override {
    if (sentence == "fail") return absl::UnavailableError("no front end");
    if (const absl::Status status = FindUnreadable(sentence); !status.ok()) return status;
    models::PhonemeText text{std::string(sentence), models::SplitPhonemeWords(sentence)};
    absl::AsciiStrToUpper(&text.phonemes);
    if (text.words.empty()) text.phonemes.clear();
    return text;
  }
  absl::Status CheckText(std::string_view text, std::string_view /*language*/) const override {
    return checks ? FindUnreadable(text) : absl::OkStatus();
  }
  std::string FromIpa(std::string_view ipa) const override {
    return absl::AsciiStrToUpper(View(ipa));
  }
  PhonemeIds ToIds(std::string_view phonemes) const override {
    PhonemeIds read;
    read.ids.push_back(0);
    for (size_t at = 0; at < phonemes.size();) {
      const size_t bytes = models::DecodeAt(phonemes, at).bytes;
      if (Symbols().find(phonemes.substr(at, bytes)) != std::string::npos) {
        const size_t first = read.ids.size();
        read.ids.insert(read.ids.end(), {phonemes[at], 0});
        read.symbols.push_back({at, at + bytes, first, first + 2});
      }
      at += bytes;
    }
    read.ids.push_back(0);
    return read;
  }
  std::string Symbols() const override { return "A B C D E F . , !"; }
  size_t max_symbols() const override { return max; }

  size_t max = 8;
  bool checks = true;  // if false, a '#' is found only when its sentence is read

 private:
  static absl::Status FindUnreadable(std::string_view text) {
    const size_t at = text.find('#');
    return at == std::string_view::npos ? absl::OkStatus()
                                        : models::InvalidAt("text: the '#' at ", at, " is none");
  }
};

}  // namespace millrace::speech
