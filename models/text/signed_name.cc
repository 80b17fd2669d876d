#include "models/text/signed_name.h"

#include <algorithm>
#include <string>

#include "models/text/code_words.h"

namespace millrace::models {
namespace {

constexpr size_t kMostSigns = 3;  // on each side
constexpr size_t kLongestName = 64;

// Signs that stand around names only, and those that prose has, too, where there is only one.
constexpr std::u32string_view kSigns = U"§¬†‡•·¶¦¤=+^;&#$@|";
constexpr std::u32string_view kProseSigns = U"-!?.,";
// Pairs of brackets, each opening one before its closing one.
constexpr std::u32string_view kBrackets = U"‹›「」『』【】〈〉《》〔〕⟨⟩⟦⟧⟪⟫";
constexpr std::u32string_view kGuillemets = U"«»";
constexpr std::u32string_view kAsciiBrackets = U"()[]{}<>";
// Signs that stand before a name alone.
constexpr std::u32string_view kPrefixes = U"§¬¶&";
// The same, before names of ASCII letters.
constexpr std::u32string_view kAsciiPrefixes = U"+=?";

bool Has(std::u32string_view signs, char32_t c) { return signs.find(c) != signs.npos; }

// Returns the bracket that closes an opening one of a list of pairs; 0 if it is none of them.
char32_t ClosingOf(std::u32string_view pairs, char32_t opening) {
  const size_t at = pairs.find(opening);
  return at != pairs.npos && at % 2 == 0 ? pairs[at + 1] : U'\0';
}

// Returns the end of a name that begins with a letter; `at` if there is none. Letters of any script
// belong to it, and signs that join parts of a name.
size_t NameEndAt(std::string_view text, size_t at) {
  size_t end = at;
  size_t letters = 0;
  for (CodePoint c = DecodeAt(text, end); c.bytes > 0 && end - at < kLongestName;
       c = DecodeAt(text, end)) {
    const bool joins = (c.value == '_' || c.value == '.' || c.value == '-') && letters > 0 &&
                       IsWordCharacter(DecodeAt(text, end + 1).value);
    if (!joins && !IsWordCharacter(c.value)) break;
    if (letters == 0 && !IsLetter(c.value)) return at;
    letters += joins ? 0 : 1;
    end += c.bytes;
  }
  return letters > 1 ? end : at;
}

// Returns true for a name as programs write it: in small letters, or with a capital or an
// underscore inside.
bool IsIdentifier(std::string_view name) {
  return !IsUpper(DecodeAt(name, 0).value) || name.find('_') != std::string_view::npos ||
         std::ranges::any_of(name.substr(1), IsAsciiUpper);
}

}  // namespace

size_t SignedNameEnd(const PatternText& pattern, size_t at) {
  const std::string_view text = pattern.text();
  if (!pattern.AtTokenStart(at)) return 0;
  std::u32string opening;
  size_t name = at;
  for (CodePoint c = DecodeAt(text, name); c.bytes > 0 && opening.size() <= kMostSigns;
       c = DecodeAt(text, name)) {
    if (IsWordCharacter(c.value) || IsSpace(c.value)) break;
    opening += c.value;
    name += c.bytes;
  }
  if (opening.empty() || opening.size() > kMostSigns) return 0;
  const size_t end = NameEndAt(text, name);
  if (end == name) return 0;
  const char32_t first = opening.front();
  const bool same = std::ranges::all_of(opening, [first](char32_t c) { return c == first; });
  const bool is_identifier = IsIdentifier(text.substr(name, end - name));
  const bool is_ascii = std::ranges::all_of(
      text.substr(name, end - name), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  // A name that templates use for a text is no quotation and no question: «NAME», ?NAME?.
  const bool is_field = IsCodeWord(text.substr(name, end - name), "field");
  // The same signs close the name, or the mirrored ones.
  std::u32string closing;
  const bool has_guillemets = first == U'«' && (pattern.guillemets() || is_field);
  const std::u32string_view pairs = opening.size() > 1 ? kAsciiBrackets
                                    : has_guillemets   ? kGuillemets
                                                       : kBrackets;
  for (auto sign = opening.rbegin(); sign != opening.rend(); ++sign) {
    if (const char32_t mirrored = ClosingOf(pairs, *sign); mirrored != 0) closing += mirrored;
  }
  if (closing.size() == opening.size()) {
    // A word of another script in brackets is one of prose: 「はい」, 《三体》.
    if (!is_ascii) closing.clear();
  } else {
    closing = opening;
    const bool is_asked_field = is_field && first == U'?';
    const bool is_prose =
        Has(kProseSigns, first) && !is_asked_field &&
        (opening.size() == 1 ? first != U'-' : first == U'.' && opening.size() > 2);
    if (!same || is_prose || (!Has(kSigns, first) && !Has(kProseSigns, first)) ||
        (Has(kProseSigns, first) && !is_asked_field && !IsLower(DecodeAt(text, name).value)))
      closing.clear();
  }
  size_t close = end;
  for (const char32_t sign : closing) {
    const CodePoint c = DecodeAt(text, close);
    if (c.bytes == 0 || c.value != sign) {
      closing.clear();
      break;
    }
    close += c.bytes;
  }
  const char32_t behind = DecodeAt(text, close).value;
  if (!closing.empty() && !IsWordCharacter(behind) && behind != closing.back()) return close;
  // A name behind a sign. The & of an accelerator key is none of the text any more.
  // An asterisk before the first word of a text is that of a footnote.
  const bool is_prefix = opening.size() == 1
                             ? Has(kPrefixes, first) || (is_ascii && Has(kAsciiPrefixes, first)) ||
                                   (first == U'*' && at > 0 && text[at - 1] == ' ')
                             : same && first == U'!';
  // Nor is that of an entity a sign of a name.
  const char32_t next = DecodeAt(text, end).value;
  const bool goes_on = next == first || (first == U'&' && next == U';');
  if (!is_prefix || !is_identifier || goes_on || !IsLower(DecodeAt(text, name).value)) return 0;
  // Android has ?attr/color.
  return first == U'?' && next == U'/' ? std::max(end, NameEndAt(text, end + 1)) : end;
}

}  // namespace millrace::models
