#include "server/client/speech_times.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "models/core/strings.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const v1::SpokenSpan& span) {
  return {{"text", span.text()},
          {"start", span.start_seconds()},
          {"end", span.end_seconds()},
          {"sentence_index", span.sentence_index()}};
}

// Returns a time as "01:02:03.004".
std::string CueTime(double seconds) {
  const auto all = static_cast<int64_t>(std::llround(seconds * 1000));
  return absl::StrFormat("%02d:%02d:%02d.%03d", all / 3'600'000, all / 60'000 % 60, all / 1000 % 60,
                         all % 1000);
}

// Returns the position of the character with that number.
size_t ByteOf(std::string_view text, size_t character) {
  size_t at = 0;
  for (; character > 0 && at < text.size(); --character) at += models::DecodeAt(text, at).bytes;
  return at;
}

// Returns text that is valid in WebVTT: one line, without the characters of its markup.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '\n':
      case '\r':
        escaped += ' ';
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string TimesAsJson(const SpeechTimes& times) {
  Json json = {{"words", Json::array()}, {"phonemes", Json::array()}};
  for (const v1::SpokenSpan& word : times.words) {
    json["words"].push_back(ToJson(word));
    json["words"].back()["character_offset"] = word.character_offset();
  }
  for (const v1::SpokenSpan& phoneme : times.phonemes) json["phonemes"].push_back(ToJson(phoneme));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string TimesAsWebVtt(const SpeechTimes& times, std::string_view text) {
  std::string vtt = "WEBVTT\n";
  const std::vector<v1::SpokenSpan>& words = times.words;
  size_t at = 0;         // byte at which the current word begins
  size_t character = 0;  // index of the character that begins there
  for (size_t first = 0; first < words.size();) {
    size_t end = first;  // end of the sentence
    while (end < words.size() && words[end].sentence_index() == words[first].sentence_index())
      ++end;
    vtt += StrCat("\n", CueTime(words[first].start_seconds()), " --> ",
                  CueTime(words[end - 1].end_seconds()), "\n");
    for (size_t i = first; i < end; ++i) {
      at += ByteOf(text.substr(at), words[i].character_offset() - character);
      character = words[i].character_offset();
      std::string_view written = text.substr(at);
      if (i + 1 < words.size())
        written = written.substr(0, ByteOf(written, words[i + 1].character_offset() - character));
      // The text up to the next word belongs to this one; the last of a sentence has no space
      // behind it.
      if (i + 1 == end) written = models::TrimRight(written);
      if (i > first) vtt += StrCat("<", CueTime(words[i].start_seconds()), ">");
      vtt += Escaped(written);
    }
    vtt += "\n";
    first = end;
  }
  return vtt;
}

}  // namespace millrace
