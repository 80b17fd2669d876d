#include "server/frontends/elevenlabs/character_times.h"

#include <algorithm>

#include "models/text/unicode.h"

namespace millrace::server {
namespace {

// Divides a time among the characters of a text.
void AddEvenly(std::string_view text, double begin, double end, CharacterTimes& times) {
  const size_t count = models::CountCodePoints(text);
  for (size_t i = 0, at = 0; i < count; ++i) {
    const size_t bytes = models::DecodeAt(text, at).bytes;
    const auto bound = [&](size_t n) {
      return begin + (end - begin) * static_cast<double>(n) / static_cast<double>(count);
    };
    times.characters.emplace_back(text.substr(at, bytes));
    times.times.push_back({bound(i), bound(i + 1)});
    at += bytes;
  }
}

}  // namespace

void AddCharacterTimes(std::string_view sentence, const std::vector<models::SpokenSpan>& words,
                       int64_t begin, int64_t origin, int sample_rate, CharacterTimes& times) {
  const auto seconds = [&](int64_t sample) {
    return static_cast<double>(sample - origin) / sample_rate;
  };
  size_t at = 0;
  int64_t heard = begin;
  for (const models::SpokenSpan& word : words) {
    const size_t found = word.text.empty() ? sentence.npos : sentence.find(word.text, at);
    if (found == sentence.npos) continue;
    const int64_t word_begin = std::max(word.begin, heard);
    const int64_t word_end = std::max(word.end, word_begin);
    AddEvenly(sentence.substr(at, found - at), seconds(heard), seconds(word_begin), times);
    AddEvenly(word.text, seconds(word_begin), seconds(word_end), times);
    at = found + word.text.size();
    heard = word_end;
  }
  AddEvenly(sentence.substr(at), seconds(heard), seconds(heard), times);
  if (!sentence.empty() && !models::IsSpace(models::DecodeBefore(sentence, sentence.size()).value))
    AddEvenly(" ", seconds(heard), seconds(heard), times);
}

}  // namespace millrace::server
