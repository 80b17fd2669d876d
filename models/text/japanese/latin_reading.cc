#include "models/text/japanese/latin_reading.h"

#include <algorithm>
#include <array>

#include "models/text/ascii.h"

namespace millrace::models {
namespace {

constexpr std::array<std::u32string_view, 26> kLetterNames = {
    U"エー",   U"ビー",       U"シー",     U"ディー", U"イー",  U"エフ",   U"ジー",
    U"エイチ", U"アイ",       U"ジェー",   U"ケー",   U"エル",  U"エム",   U"エヌ",
    U"オー",   U"ピー",       U"キュー",   U"アール", U"エス",  U"ティー", U"ユー",
    U"ブイ",   U"ダブリュー", U"エックス", U"ワイ",   U"ゼット"};

struct LoanWord {
  std::string_view word;  // in small letters, without hyphens
  std::u32string_view kana;
};

// Names and words that Japanese texts often write in Latin letters. Sorted by bytes.
constexpr std::array kLoanWords = std::to_array<LoanWord>({
    {"amazon", U"アマゾン"},
    {"android", U"アンドロイド"},
    {"app", U"アプリ"},
    {"apple", U"アップル"},
    {"bluetooth", U"ブルートゥース"},
    {"chatgpt", U"チャットジーピーティー"},
    {"chrome", U"クローム"},
    {"cloud", U"クラウド"},
    {"email", U"イーメール"},
    {"excel", U"エクセル"},
    {"facebook", U"フェイスブック"},
    {"github", U"ギットハブ"},
    {"gmail", U"ジーメール"},
    {"google", U"グーグル"},
    {"happy", U"ハッピー"},
    {"hello", U"ハロー"},
    {"home", U"ホーム"},
    {"instagram", U"インスタグラム"},
    {"internet", U"インターネット"},
    {"ipad", U"アイパッド"},
    {"iphone", U"アイフォーン"},
    {"java", U"ジャバ"},
    {"javascript", U"ジャバスクリプト"},
    {"line", U"ライン"},
    {"linux", U"リナックス"},
    {"love", U"ラブ"},
    {"mac", U"マック"},
    {"mail", U"メール"},
    {"microsoft", U"マイクロソフト"},
    {"music", U"ミュージック"},
    {"netflix", U"ネットフリックス"},
    {"news", U"ニュース"},
    {"nintendo", U"ニンテンドー"},
    {"ok", U"オーケー"},
    {"online", U"オンライン"},
    {"open", U"オープン"},
    {"playstation", U"プレイステーション"},
    {"python", U"パイソン"},
    {"sale", U"セール"},
    {"server", U"サーバー"},
    {"service", U"サービス"},
    {"sony", U"ソニー"},
    {"suica", U"スイカ"},
    {"switch", U"スイッチ"},
    {"tiktok", U"ティックトック"},
    {"twitter", U"ツイッター"},
    {"web", U"ウェブ"},
    {"wifi", U"ワイファイ"},
    {"windows", U"ウィンドウズ"},
    {"word", U"ワード"},
    {"world", U"ワールド"},
    {"youtube", U"ユーチューブ"},
    {"zoom", U"ズーム"},
});
static_assert(std::ranges::is_sorted(kLoanWords, {}, &LoanWord::word));

// The kana of the vowels a, i, u, e, o behind a consonant.
struct RomajiRow {
  std::string_view consonant;
  std::array<std::u32string_view, 5> kana;
};

constexpr std::string_view kLatinVowels = "aiueo";
// A longer consonant comes before one that it begins with.
constexpr std::array kRomajiRows = std::to_array<RomajiRow>({
    {"ky", {U"キャ", U"", U"キュ", U"", U"キョ"}},
    {"gy", {U"ギャ", U"", U"ギュ", U"", U"ギョ"}},
    {"sh", {U"シャ", U"シ", U"シュ", U"シェ", U"ショ"}},
    {"ch", {U"チャ", U"チ", U"チュ", U"チェ", U"チョ"}},
    {"ts", {U"", U"", U"ツ", U"", U""}},
    {"ny", {U"ニャ", U"", U"ニュ", U"", U"ニョ"}},
    {"hy", {U"ヒャ", U"", U"ヒュ", U"", U"ヒョ"}},
    {"by", {U"ビャ", U"", U"ビュ", U"", U"ビョ"}},
    {"py", {U"ピャ", U"", U"ピュ", U"", U"ピョ"}},
    {"my", {U"ミャ", U"", U"ミュ", U"", U"ミョ"}},
    {"ry", {U"リャ", U"", U"リュ", U"", U"リョ"}},
    {"", {U"ア", U"イ", U"ウ", U"エ", U"オ"}},
    {"k", {U"カ", U"キ", U"ク", U"ケ", U"コ"}},
    {"g", {U"ガ", U"ギ", U"グ", U"ゲ", U"ゴ"}},
    {"s", {U"サ", U"", U"ス", U"セ", U"ソ"}},
    {"z", {U"ザ", U"", U"ズ", U"ゼ", U"ゾ"}},
    {"j", {U"ジャ", U"ジ", U"ジュ", U"ジェ", U"ジョ"}},
    {"t", {U"タ", U"", U"", U"テ", U"ト"}},
    {"d", {U"ダ", U"", U"", U"デ", U"ド"}},
    {"n", {U"ナ", U"ニ", U"ヌ", U"ネ", U"ノ"}},
    {"h", {U"ハ", U"ヒ", U"", U"ヘ", U"ホ"}},
    {"f", {U"", U"", U"フ", U"", U""}},
    {"b", {U"バ", U"ビ", U"ブ", U"ベ", U"ボ"}},
    {"p", {U"パ", U"ピ", U"プ", U"ペ", U"ポ"}},
    {"m", {U"マ", U"ミ", U"ム", U"メ", U"モ"}},
    {"y", {U"ヤ", U"", U"ユ", U"", U"ヨ"}},
    {"r", {U"ラ", U"リ", U"ル", U"レ", U"ロ"}},
    {"w", {U"ワ", U"", U"", U"", U""}},
});

// Returns the kana of Hepburn romaji in lower case; empty if the word is none.
std::u32string Romaji(std::string_view word) {
  std::u32string kana;
  for (size_t at = 0; at < word.size();) {
    const char c = word[at];
    const char next = ByteAt(word, at + 1);
    if (c == 'n' && kLatinVowels.find(next) == std::string_view::npos && next != 'y') {
      kana += U'ン';
      ++at;
      continue;
    }
    if (c == next && std::string_view("kstp").find(c) != std::string_view::npos) {
      kana += U'ッ';
      ++at;
      continue;
    }
    const auto* row = std::ranges::find_if(kRomajiRows, [&](const RomajiRow& one) {
      const char vowel = ByteAt(word, at + one.consonant.size());
      return word.substr(at).starts_with(one.consonant) && vowel != 0 &&
             kLatinVowels.find(vowel) != std::string_view::npos;
    });
    if (row == kRomajiRows.end()) return {};
    at += row->consonant.size();
    const std::u32string_view syllable = row->kana[kLatinVowels.find(word[at++])];
    if (syllable.empty()) return {};
    kana += syllable;
  }
  return kana;
}

}  // namespace

std::u32string_view LoanWordReading(std::string_view word) {
  const auto* const found = std::ranges::lower_bound(kLoanWords, word, {}, &LoanWord::word);
  return found != kLoanWords.end() && found->word == word ? found->kana : U"";
}

std::u32string LatinReading(std::string_view word) {
  // Capitals alone are an abbreviation.
  const bool capitals = std::ranges::all_of(word, IsAsciiUpper);
  if (!capitals && word.size() > 2) {
    if (std::u32string kana = Romaji(AsciiLower(word)); !kana.empty()) return kana;
  }
  std::u32string names;
  for (const char c : word) {
    if (IsAsciiLetter(c)) names += kLetterNames[static_cast<size_t>(AsciiLower(c) - 'a')];
  }
  return names;
}

}  // namespace millrace::models
