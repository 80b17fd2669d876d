#include "models/translation/markup/readings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// Lets a model that writes times with colons read them so: 10h30.
void ReadHours(MarkedText& marked, std::string_view language, std::string_view target_language) {
  constexpr size_t kMinutes = 2;  // digits
  constexpr std::string_view kWithHours = " pt fr gl ca ";
  const auto has_hours = [kWithHours](std::string_view tag) {
    return kWithHours.find(" " + models::AsciiLower(tag.substr(0, tag.find('-'))) + " ") !=
           std::string_view::npos;
  };
  if (target_language.empty() || !has_hours(language) || has_hours(target_language)) return;
  const std::string_view text = marked.text;
  for (size_t at = text.find('h', 1); at < text.size(); at = text.find('h', at + 1)) {
    const size_t end = models::DigitsEnd(text, at + 1);
    size_t begin = at;
    while (begin > 0 && models::IsAsciiDigit(text[begin - 1])) --begin;
    const bool is_time =
        begin < at && at - begin <= kMinutes && end == at + 1 + kMinutes &&
        !models::IsWordCharacter(models::DecodeAt(text, end).value) &&
        (begin == 0 || !models::IsWordCharacter(models::DecodeBefore(text, begin).value));
    const bool has_event = std::ranges::binary_search(marked.events, at, {}, &MarkEvent::at);
    if (!is_time || has_event) continue;
    auto kept = std::ranges::lower_bound(marked.kept, begin, {}, &KeptSpan::begin);
    // It may have been taken for a code.
    if (kept != marked.kept.end() && kept->begin == begin && kept->end == end && !kept->reads)
      kept = marked.kept.erase(kept);
    const bool is_free = (kept == marked.kept.begin() || (kept - 1)->end <= begin) &&
                         (kept == marked.kept.end() || kept->begin >= end);
    if (is_free) marked.kept.insert(kept, {at, at + 1, "h", ":", /*returns=*/false});
  }
}

// Lets a model read a part of a text as other words, unless a mark or a kept span is there.
void ReadAs(size_t begin, size_t end, std::string_view reads, MarkedText& marked) {
  const auto event = std::ranges::upper_bound(marked.events, begin, {}, &MarkEvent::at);
  const auto kept = std::ranges::lower_bound(marked.kept, begin, {}, &KeptSpan::begin);
  if ((event == marked.events.end() || event->at > end) &&
      (kept == marked.kept.begin() || (kept - 1)->end <= begin) &&
      (kept == marked.kept.end() || kept->begin >= end))
    marked.kept.insert(kept, {begin, end, Written(marked, begin, end), reads, /*returns=*/false});
}

// Lets a model that takes the sign of a number for a word read it as one: nº 5, n.º 5, Nº de série.
void ReadNumberSigns(MarkedText& marked, std::string_view language,
                     std::string_view target_language) {
  constexpr std::string_view kSign = "º";
  constexpr std::string_view kWithSign = " ca es fr gl it pt ";
  const auto has_sign = [kWithSign](std::string_view tag) {
    return kWithSign.find(" " + models::AsciiLower(tag.substr(0, tag.find('-'))) + " ") !=
           std::string_view::npos;
  };
  if (models::AsciiLower(language.substr(0, language.find('-'))) != "pt" ||
      target_language.empty() || has_sign(target_language))
    return;
  const std::string_view text = marked.text;
  for (size_t at = text.find(kSign); at < text.size(); at = text.find(kSign, at + 1)) {
    size_t begin = at > 0 && text[at - 1] == '.' ? at - 1 : at;
    if (begin == 0 || (text[begin - 1] != 'n' && text[begin - 1] != 'N')) continue;
    --begin;
    const size_t end = at + kSign.size();
    const bool joined = models::IsAsciiDigit(models::ByteAt(text, end));
    const bool before_number =
        joined || (models::ByteAt(text, end) == ' ' &&
                   (models::IsAsciiDigit(models::ByteAt(text, end + 1)) ||
                    text.substr(end).starts_with(" de ") || text.substr(end).starts_with(" do ")));
    const bool begins =
        begin == 0 || !models::IsWordCharacter(models::DecodeBefore(text, begin).value);
    if (!before_number || !begins) continue;
    ReadAs(begin, end,
           text[begin] == 'N' ? (joined ? "Número " : "Número") : (joined ? "número " : "número"),
           marked);
  }
}

// Lets a model read a word of messages that it otherwise takes for those of websites: "O jogo não
// foi encontrado" and "Usuário não encontrado" became "The page you requested was not found".
void ReadMessages(MarkedText& marked, std::string_view language) {
  constexpr std::string_view kFound = "encontrad";
  constexpr std::string_view kMarks = ".!:;,";
  if (models::AsciiLower(language.substr(0, language.find('-'))) != "pt") return;
  const std::string_view text = marked.text;
  if (text.find("ágin") != std::string_view::npos) return;
  for (size_t at = text.find(kFound); at < text.size(); at = text.find(kFound, at + 1)) {
    const std::string_view before = text.substr(0, at);
    const size_t end = at + kFound.size();
    const bool is_plural = models::ByteAt(text, end + 1) == 's';
    const size_t behind = models::LettersEnd(text, end);
    const bool ends = behind == text.size() || kMarks.find(text[behind]) != kMarks.npos;
    if (before.ends_with("não foi ") || before.ends_with("não foram ") ||
        before.find("enhum") != std::string_view::npos)
      ReadAs(at, end, "achad", marked);
    else if (before.ends_with(" não ") && ends)
      ReadAs(at, end, is_plural ? "foram achad" : "foi achad", marked);
  }
}

// Lets a model read a unit of time as a word where it takes the letters for none: "in 30 s", "há 2
// h", which became "there 2 h".
void ReadUnitsOfTime(MarkedText& marked, std::string_view language) {
  struct Unit {
    std::string_view language;
    std::string_view written;
    std::string_view reads;
    std::string_view behind;  // stands before the number
  };
  constexpr std::array<Unit, 5> kUnits = {{{"en", "s", "seconds", ""},
                                           {"pt", "s", "segundos", ""},
                                           {"pt", "seg", "segundos", "há "},
                                           {"pt", "min", "minutos", "há "},
                                           {"pt", "h", "horas", "há "}}};
  const std::string tag = models::AsciiLower(language.substr(0, language.find('-')));
  const std::string_view text = marked.text;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t digits = models::DigitsEnd(text, at);
    if (digits == at) continue;
    const size_t end = models::LettersEnd(text, digits + 1);
    for (const Unit& unit : kUnits) {
      if (tag == unit.language && models::ByteAt(text, digits) == ' ' &&
          text.substr(digits + 1, end - digits - 1) == unit.written &&
          text.substr(0, at).ends_with(unit.behind) &&
          !models::IsWordCharacter(models::DecodeAt(text, end).value))
        ReadAs(digits + 1, end, unit.reads, marked);
    }
    at = digits;
  }
}

// Lets a model read a prohibition as a sentence, of which it does not lose the first word as it
// does of "PROIBIDO FUMAR".
void ReadProhibition(MarkedText& marked, std::string_view language) {
  using Words = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Words, 4> kProhibitions = {{{"Proibido ", "É proibido "},
                                                   {"Proibida ", "É proibida "},
                                                   {"PROIBIDO ", "É PROIBIDO "},
                                                   {"PROIBIDA ", "É PROIBIDA "}}};
  if (models::AsciiLower(language.substr(0, language.find('-'))) != "pt") return;
  for (const auto& [written, reads] : kProhibitions) {
    if (marked.text.starts_with(written)) ReadAs(0, written.size(), reads, marked);
  }
}

// Lets a model read short names of days as whole ones: "de seg. a sex."
void ReadDays(MarkedText& marked, std::string_view language) {
  using Day = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Day, 6> kDays = {{{"seg", "segunda"},
                                         {"ter", "terça"},
                                         {"qua", "quarta"},
                                         {"qui", "quinta"},
                                         {"sex", "sexta"},
                                         {"sáb", "sábado"}}};
  constexpr std::array<std::string_view, 3> kJoints = {" a ", " à ", " e "};
  if (models::AsciiLower(language.substr(0, language.find('-'))) != "pt") return;
  const std::string_view text = marked.text;
  // Reads a day at a place, with its stop; returns its end.
  const auto read_day = [&](size_t at, std::string_view& reads) {
    for (const auto& [written, day] : kDays) {
      const size_t end = at + written.size();
      if (!text.substr(at).starts_with(written) ||
          models::IsLetter(models::DecodeAt(text, end).value))
        continue;
      reads = day;
      return end + (models::ByteAt(text, end) == '.' && end + 1 < text.size() ? 1 : 0);
    }
    return at;
  };
  for (size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && models::IsLetter(models::DecodeBefore(text, at).value)) continue;
    std::string_view first;
    std::string_view last;
    const size_t first_end = read_day(at, first);
    if (first_end == at) continue;
    for (const std::string_view joint : kJoints) {
      const size_t second = first_end + joint.size();
      if (!text.substr(first_end).starts_with(joint)) continue;
      const size_t second_end = read_day(second, last);
      if (second_end == second) continue;
      ReadAs(at, first_end, first, marked);
      ReadAs(second, second_end, last, marked);
    }
  }
}

}  // namespace

void PutReadings(MarkedText& marked, std::string_view language, std::string_view target_language) {
  ReadHours(marked, language, target_language);
  ReadNumberSigns(marked, language, target_language);
  ReadMessages(marked, language);
  ReadUnitsOfTime(marked, language);
  ReadProhibition(marked, language);
  ReadDays(marked, language);
}

}  // namespace millrace::translation
