#include "models/text/japanese/kana_phonemes.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/core/embedded_table.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/japanese/counters.h"
#include "models/text/japanese/kana_sounds_text.h"
#include "models/text/sign_names.h"
#include "models/text/text_place.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr char32_t kFirstKana = 0x3041;
constexpr char32_t kLastKana = 0x3096;
constexpr char32_t kMoraicN = U'ん';
constexpr char32_t kLong = U'ー';

// Returns the phonemes of a kana, or of one with a small one behind it that changes its sound;
// empty if there are none.
std::string_view SoundOf(char32_t kana, char32_t small = 0) {
  static const WordTable<2> sounds(kKanaSoundsText);
  const auto* const row = sounds.Find(EncodeUtf8(kana) + (small == 0 ? "" : EncodeUtf8(small)));
  return row == nullptr ? std::string_view() : row->back();
}

constexpr SignName<std::string_view> kKanaMarks[] = {
    {U"。.", "."},    {U"、，,", ","},  {U"？?", "?"},    {U"！!", "!"},     {U"：:", ":"},
    {U"；;", ";"},    {U"「『«“", "“"}, {U"」』»”", "”"}, {U"（《【(", "("}, {U"）》】)", ")"},
    {U"〜～—―", "—"}, {U"…", "…"},      {U"\"", "\""}};

std::string_view MarkOf(char32_t c) { return NameOfSign(kKanaMarks, c); }

// Returns hiragana for katakana.
char32_t ToHiragana(char32_t c) { return c >= 0x30A1 && c <= 0x30F6 ? c - 0x60 : c; }

bool IsKana(char32_t c) { return c >= kFirstKana && c <= kLastKana; }

// Returns the voiced form, such as が for か; 0 if there is none.
char32_t Voiced(char32_t kana) {
  constexpr std::u32string_view kPlain = U"うかきくけこさしすせそたちつてとはひふへほ";
  constexpr std::u32string_view kVoiced = U"ゔがぎぐげござじずぜぞだぢづでどばびぶべぼ";
  const size_t at = kPlain.find(kana);
  return at == std::u32string_view::npos ? 0 : kVoiced[at];
}

struct Character {
  char32_t value;
  size_t at;              // byte of the text
  bool particle = false;  // は or へ, which are spoken as わ and え
};

using Kana = std::vector<Character>;

// Returns hiragana for half-width katakana, which begin at U+FF66, and wide marks for narrow ones.
char32_t Widened(char32_t c) {
  constexpr std::u32string_view kWide =
      U"をぁぃぅぇぉゃゅょっーあいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめ"
      U"もやゆよらりるれろわん";
  if (c >= 0xFF66 && c <= 0xFF9D) return kWide[c - 0xFF66];
  if (c >= 0xFF10 && c <= 0xFF19) return c - 0xFF10 + '0';
  if (c == 0xFF05) return '%';
  if (c == 0xFFE5) return 0xA5;
  if (c == 0xFF0D || c == 0x2212 || c == 0x2010) return '-';
  constexpr std::u32string_view kWideMarks = U"。「」、・";
  return c >= 0xFF61 && c <= 0xFF65 ? kWideMarks[c - 0xFF61] : c;
}

absl::Status Refused(std::string_view text, size_t at, size_t bytes, char32_t c) {
  const bool kanji =
      (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) || c >= 0x20000 || c == U'々';
  if (c == 0xFFFD) {
    return InvalidAt("text: ", at, " is not UTF-8");
  }
  return InvalidAt(StrCat("text: the character '", text.substr(at, bytes), "' at "), at,
                   kanji
                       ? " is a kanji; Japanese with kanji needs a MeCab dictionary on the server "
                         "(mecab-ipadic-utf8); or write its reading in hiragana or katakana"
                       : " is not kana; without a MeCab dictionary on the server "
                         "(mecab-ipadic-utf8) write it in hiragana or katakana");
}

// Returns the reading of signs that stand with numbers.
std::u32string_view SignReading(char32_t c) {
  if (c == '%') return U"ぱーせんと";
  return c == U'¥' ? U"えん" : U"";
}

// Returns the text as hiragana, digits, marks and spaces; all other characters are refused.
absl::StatusOr<Kana> ReadKana(std::string_view text) {
  Kana kana;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeAt(text, at);
    char32_t c = Widened(point.value);
    // Marks of voicing follow their kana.
    if (c == 0x3099 || c == 0xFF9E || c == 0x309A || c == 0xFF9F) {
      const bool voiced = c == 0x3099 || c == 0xFF9E;
      const char32_t before = kana.empty() ? 0 : kana.back().value;
      const char32_t with = Voiced(before);
      if (voiced && with != 0) kana.back().value = with;
      if (!voiced && with >= U'ば' && with <= U'ぼ') kana.back().value = with + 1;
      at += point.bytes;
      continue;
    }
    c = ToHiragana(c);
    if (c == U'ゝ' || c == U'ヽ' || c == U'ゞ' || c == U'ヾ') {
      const char32_t before = kana.empty() ? 0 : kana.back().value;
      if (!IsKana(before)) return Refused(text, at, point.bytes, point.value);
      const bool voiced = c == U'ゞ' || c == U'ヾ';
      c = voiced && Voiced(before) != 0 ? Voiced(before) : before;
    }
    if (c >= 0x30F7 && c <= 0x30FA) {  // ヷヸヹヺ
      kana.push_back({U'ゔ', at});
      constexpr std::u32string_view kVowels = U"ぁぃぇぉ";
      c = kVowels[c - 0x30F7];
    }
    if (const std::u32string_view name = SignReading(c); !name.empty()) {
      for (const char32_t part : name) kana.push_back({part, at});
      at += point.bytes;
      continue;
    }
    const bool digit = IsDigit(c) || (c == '-' && !kana.empty() && IsDigit(kana.back().value));
    const bool known =
        digit || IsKana(c) || c == kLong || c == U'・' || IsSpace(c) || !MarkOf(c).empty();
    if (!known) return Refused(text, at, point.bytes, point.value);
    kana.push_back({c, at});
    at += point.bytes;
  }
  return kana;
}

char32_t ValueAt(const Kana& kana, size_t i) { return i < kana.size() ? kana[i].value : 0; }

bool FollowsAt(const Kana& kana, size_t i, std::u32string_view expected) {
  for (const char32_t c : expected) {
    if (ValueAt(kana, i++) != c) return false;
  }
  return true;
}

bool PrecedesAt(const Kana& kana, size_t i, std::u32string_view expected) {
  return i >= expected.size() && FollowsAt(kana, i - expected.size(), expected);
}

// Returns true if a word begins there as far as it is written apart.
bool BeginsWord(const Kana& kana, size_t i) {
  return i == 0 || (!IsKana(kana[i - 1].value) && kana[i - 1].value != kLong);
}

// Returns the end of a number that begins at `i`: digits, with commas, a point or hyphens between.
size_t NumberEnd(const Kana& kana, size_t i) {
  size_t end = i;
  while (IsDigit(ValueAt(kana, end))) {
    ++end;
    const char32_t c = ValueAt(kana, end);
    if ((c == '-' || c == ',' || c == '.') && IsDigit(ValueAt(kana, end + 1))) ++end;
  }
  return end;
}

// Replaces numbers by their readings.
Kana ReadNumbers(const Kana& kana) {
  Kana read;
  for (size_t i = 0; i < kana.size();) {
    if (!IsDigit(kana[i].value)) {
      if (kana[i].value != '-') read.push_back(kana[i]);
      ++i;
      continue;
    }
    const size_t end = NumberEnd(kana, i);
    std::u32string number;
    std::u32string behind;
    for (size_t k = i; k < end; ++k) number += kana[k].value;
    constexpr size_t kLongestCounter = 6;
    for (size_t k = end; k < std::min(kana.size(), end + kLongestCounter); ++k)
      behind += kana[k].value;
    size_t taken = 0;
    const bool month = PrecedesAt(read, read.size(), U"がつ");
    for (const char32_t c : NumberAmongKana(number, behind, month, taken)) {
      if (c != ' ') read.push_back({ToHiragana(c), kana[i].at});
    }
    i = end + taken;
  }
  return read;
}

// Returns true if は at `i` belongs to a word that has it within, or begins a word that follows
// another without a particle between.
bool IsWithinWord(const Kana& kana, size_t i) {
  for (const std::u32string_view word :
       {U"おはよう", U"ごはん", U"やはり",   U"よこはま", U"しはら",     U"かいはつ", U"こうはい",
        U"じはん",   U"にはん", U"ゆうはん", U"にはとり", U"きょうはく", U"さいはつ", U"いちはやく",
        U"いはん",   U"ひはん", U"こはく",   U"みはら",   U"みはる",     U"おおはば", U"ちゅうはん",
        U"きはい",   U"けはい", U"えはがき", U"ちはん",   U"さんはん"}) {
    const size_t at = word.find(U'は');
    if (i >= at && FollowsAt(kana, i - at, word)) return true;
  }
  if (i >= 2 && BeginsWord(kana, i - 2) && FollowsAt(kana, i - 2, U"はいはい")) return true;
  // Behind a particle a word begins: みずをはこぶ.
  constexpr std::u32string_view kParticles = U"をがのてもへ";
  if (kParticles.find(kana[i - 1].value) == std::u32string_view::npos) return false;
  for (const std::u32string_view word :
       {U"はいる", U"はいり", U"はいっ", U"はじ", U"はたら", U"はこ", U"はら",
        U"はず",   U"はれ",   U"はや",   U"はる", U"はな",   U"はし", U"はた",
        U"はん",   U"はつ",   U"はち",   U"はだ", U"はく",   U"はか"}) {
    if (FollowsAt(kana, i, word)) return true;
  }
  return false;
}

// Returns true if は at `i` is the particle.
bool IsTopicParticle(const Kana& kana, size_t i) {
  // Written apart it is one unless the text begins with it: は is also a tooth.
  if (BeginsWord(kana, i)) return i > 0 && !IsKana(ValueAt(kana, i + 1));
  if (!IsKana(ValueAt(kana, i + 1)))
    return !(i >= 1 && kana[i - 1].value == U'は' && BeginsWord(kana, i - 1));
  if (PrecedesAt(kana, i, U"はは") && BeginsWord(kana, i - 2)) return true;  // "mother"
  for (const std::u32string_view before : {U"では", U"には", U"とは"}) {
    if (PrecedesAt(kana, i + 1, before)) return true;
  }
  if (PrecedesAt(kana, i, U"もの")) return true;
  for (const std::u32string_view after :
       {U"なんで",     U"なんじ", U"なんさ", U"なにが",   U"なにを",  U"どこ", U"だれ",
        U"どなた",     U"いくら", U"いくつ", U"いつ",     U"どう",    U"どの", U"どれ",
        U"とても",     U"すき",   U"きらい", U"あり",     U"いい",    U"いま", U"いません",
        U"ありません", U"わたし", U"あなた", U"がくせい", U"せんせい"}) {
    if (FollowsAt(kana, i + 1, after)) return true;
  }
  // The second of two begins a word: くるまははやい.
  if (kana[i - 1].value == U'は') return false;
  if (ValueAt(kana, i + 1) == U'は') return true;
  // Behind two kana or more it is one more often than not: りんごはおいしい. Of one kana these are
  // words.
  constexpr std::u32string_view kWords = U"きひめてけちねえと";
  const bool behind_word =
      !BeginsWord(kana, i - 1) || kWords.find(kana[i - 1].value) != std::u32string_view::npos;
  return behind_word && !IsWithinWord(kana, i);
}

// Returns true if へ at `i` is the particle.
bool IsGoalParticle(const Kana& kana, size_t i) {
  if (BeginsWord(kana, i)) return i > 0 && !IsKana(ValueAt(kana, i + 1));
  if (!IsKana(ValueAt(kana, i + 1))) return true;
  for (const std::u32string_view after :
       {U"いき",   U"いく", U"いっ", U"いこ", U"かえ",     U"きま", U"きて",
        U"くる",   U"むか", U"はい", U"のぼ", U"おく",     U"でか", U"もど",
        U"ひっこ", U"の",   U"は",   U"も",   U"ようこそ", U"つれ", U"はし"}) {
    if (FollowsAt(kana, i + 1, after)) return true;
  }
  return false;
}

// Makes は and へ the kana that are spoken where they are particles. Those of katakana are none.
void ReadParticles(std::string_view text, Kana& kana) {
  for (size_t i = 0; i < kana.size(); ++i) {
    const char32_t c = kana[i].value;
    if ((c != U'は' && c != U'へ') || DecodeAt(text, kana[i].at).value != c) continue;
    if (c == U'は' ? !IsTopicParticle(kana, i) : !IsGoalParticle(kana, i)) continue;
    kana[i].particle = true;
  }
  for (Character& c : kana) {
    if (c.particle) c.value = c.value == U'は' ? U'わ' : U'え';
  }
}

// Returns the vowel of a kana, also of small ones, as あ, い, う, え or お; 0 for others.
char32_t VowelOf(char32_t kana) {
  constexpr std::array<std::u32string_view, 5> kRows = {
      U"あぁかがさざただなはばぱまゃやらゎわ", U"いぃきぎしじちぢにひびぴみりゐ",
      U"うぅくぐすずつづぬふぶぷむゅゆるゔ", U"えぇけげせぜてでねへべぺめれゑ",
      U"おぉこごそぞとどのほぼぽもょよろ"};
  constexpr std::u32string_view kVowels = U"あいうえお";
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].find(kana) != std::u32string_view::npos) return kVowels[i];
  }
  return 0;
}

bool IsIn(char32_t c, std::u32string_view set) {
  return c != 0 && set.find(c) != std::u32string_view::npos;
}

// Returns true if the vowel at `i` only makes the one before it long, as dictionaries say:
// とうきょう, せんせい, おかあさん. Where a particle or the stem of a verb ends before it, it does
// not.
bool Lengthens(const Kana& kana, size_t i) {
  if (i == 0 || kana[i - 1].particle || kana[i].particle) return false;
  const char32_t before = kana[i - 1].value;
  const char32_t vowel = VowelOf(before);
  const char32_t c = kana[i].value;
  const char32_t next = ValueAt(kana, i + 1);
  if (IsIn(next, U"ぁぃぅぇぉ")) return false;
  const bool starts = BeginsWord(kana, i - 1);
  switch (c) {
    case U'う':
      if (vowel == U'う') return true;
      if (vowel != U'お') return false;
      // "の" and a word that begins with う; verbs that end in う.
      if (before == U'の' && !starts && IsIn(next, U"えちみまで")) return false;
      for (const std::u32string_view verb : {U"おも", U"さそ", U"ととの", U"よそお"}) {
        if (PrecedesAt(kana, i, verb)) return false;
      }
      return true;
    case U'い':
      // The particle で and a word: バスで いく.
      if (before == U'で' && !starts) return PrecedesAt(kana, i, U"うんで");
      if (vowel == U'え')
        return !(before == U'て' && !starts && IsIn(next, U"るたてなまくっけられよ"));
      if (vowel != U'い') return false;
      if (before == U'に') return kana[i].at != kana[i - 1].at && IsIn(next, U"さちん");
      return next != U'る' && !FollowsAt(kana, i + 1, U"ます") &&
             !FollowsAt(kana, i + 1, U"ませ") && !FollowsAt(kana, i + 1, U"まし");
    case U'あ':
      return IsIn(before, U"あばまさやわ") || (before == U'か' && IsIn(next, U"さち"));
    case U'え':
      return IsIn(before, U"えねへ");
    case U'お':
      return IsIn(before, U"おこほ") || (before == U'と' && IsIn(next, U"るりいく"));
    default:
      return false;
  }
}

// Makes long vowels ー. Katakana writes them so already.
void ReadLongVowels(std::string_view text, Kana& kana) {
  for (size_t i = 1; i < kana.size(); ++i) {
    const char32_t written = DecodeAt(text, kana[i].at).value;
    const bool katakana = written >= 0x30A1 && written <= 0x30FA;
    if (!katakana && Lengthens(kana, i)) kana[i].value = kLong;
  }
}

// Returns the sound of ん before the given phonemes.
std::string_view MoraicN(std::string_view next) {
  const char32_t c = next.empty() ? 0 : DecodeAt(next, 0).value;
  if (c == 'm' || c == 'p' || c == 'b') return "m";
  if (c == 'k' || c == U'ɡ') return "ŋ";
  if (c == U'ɲ' || c == U'ʨ' || c == U'ʥ') return "ɲ";
  if (c == 'n' || c == 't' || c == 'd' || c == U'ɾ' || c == 'z') return "n";
  return "ɴ";
}

void AppendMark(std::string_view mark, std::string& phonemes) {
  const bool opens = mark == "“" || mark == "(";
  if (opens) {
    if (!phonemes.empty() && !phonemes.ends_with(' ')) phonemes += ' ';
    phonemes += mark;
    return;
  }
  while (phonemes.ends_with(' ')) phonemes.pop_back();
  phonemes += mark;
  phonemes += ' ';
}

}  // namespace

absl::Status CheckKana(std::string_view text) {
  const auto kana = ReadKana(text);
  return kana.status();
}

absl::StatusOr<PhonemeText> KanaPhonemes(std::string_view text) {
  MILLRACE_ASSIGN_OR_RETURN(auto written, ReadKana(text));
  Kana read = ReadNumbers(written);
  ReadParticles(text, read);
  ReadLongVowels(text, read);
  const Kana* kana = &read;
  PhonemeText result;
  std::string& phonemes = result.phonemes;
  bool divided = true;  // from the word before
  const auto value_at = [&](size_t i) { return i < kana->size() ? (*kana)[i].value : char32_t{0}; };
  for (size_t i = 0; i < kana->size(); ++i) {
    const size_t first = i;
    const size_t spoken = phonemes.size();
    const char32_t c = value_at(i);
    const char32_t next = value_at(i + 1);
    if (const std::string_view mark = MarkOf(c); !mark.empty()) {
      AppendMark(mark, phonemes);
      divided = true;
      continue;
    }
    if (IsSpace(c) || c == U'・') {
      if (!phonemes.empty() && !phonemes.ends_with(' ')) phonemes += ' ';
      divided = true;
      continue;
    }
    if (c == kMoraicN) {
      phonemes += MoraicN(SoundOf(next));
    } else if (const auto pair = next == 0 ? std::string_view() : SoundOf(c, next); !pair.empty()) {
      phonemes += pair;
      ++i;
    } else {
      phonemes += SoundOf(c);
    }
    if (std::exchange(divided, false)) result.words.push_back({(*kana)[first].at, 0, spoken, 0});
    result.words.back().end = i + 1 < kana->size() ? (*kana)[i + 1].at : text.size();
    result.words.back().phonemes_end = phonemes.size();
  }
  while (phonemes.ends_with(' ')) phonemes.pop_back();
  return result;
}

}  // namespace millrace::models
