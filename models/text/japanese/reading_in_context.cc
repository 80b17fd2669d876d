#include "models/text/japanese/reading_in_context.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace millrace::models {
namespace {

using Words = std::initializer_list<std::u32string_view>;

bool Begins(std::u32string_view text, Words words) {
  return std::ranges::any_of(words, [&](auto word) { return text.starts_with(word); });
}

bool Ends(std::u32string_view text, Words words) {
  return std::ranges::any_of(words, [&](auto word) { return text.ends_with(word); });
}

bool Has(std::u32string_view text, Words words) {
  return std::ranges::any_of(words, [&](auto word) { return text.find(word) != text.npos; });
}

// Returns true where 辛い is of a dish: 辛い料理, カレーは辛い。
bool TastesHot(std::u32string_view before, std::u32string_view after) {
  constexpr size_t kNear = 6;
  const Words dishes = {U"カレー", U"キムチ", U"スープ", U"ラーメン", U"料理",
                        U"味",     U"食",     U"もの",   U"物"};
  if (Begins(after, dishes)) return true;
  const bool ends =
      after.empty() || Begins(after, {U"で", U"。", U"、", U"と", U"け", U"が", U"！"});
  return ends && Has(before.substr(before.size() - std::min(before.size(), kNear)), dishes);
}

// Returns true where 人気 is that of people who are there: 人気のない道, but 人気のない歌手.
bool AreThere(std::u32string_view after) {
  for (const std::u32string_view none : {U"のない", U"の無い", U"がない", U"のなかった", U"もない",
                                         U"のなくなった", U"の途絶えた", U"が途絶え"}) {
    if (!after.starts_with(none)) continue;
    const std::u32string_view place = after.substr(none.size());
    return place.empty() ||
           Begins(place,
                  {U"。",   U"、",   U"道",   U"路",   U"場",   U"所",     U"と",   U"ところ",
                   U"部屋", U"家",   U"夜",   U"森",   U"山",   U"海",     U"浜",   U"公園",
                   U"町",   U"街",   U"村",   U"駅",   U"通",   U"廊下",   U"学校", U"校舎",
                   U"教室", U"建物", U"倉庫", U"寺",   U"神社", U"ホーム", U"ビル", U"島",
                   U"広",   U"裏",   U"暗",   U"深夜", U"早朝", U"朝"});
  }
  return false;
}

constexpr auto kKanaWords = std::to_array<KanaWord>({
    {U"いもうと", U"イモート"},
    {U"えいが", U"エーガ"},
    {U"えいご", U"エーゴ"},
    {U"えき", U"エキ"},
    {U"おとうと", U"オトート"},
    {U"かたかな", U"カタカナ"},
    {U"がくせい", U"ガクセー"},
    {U"きょうしつ", U"キョーシツ"},
    {U"ぎゅうにゅう", U"ギューニュー"},
    {U"ぎんこう", U"ギンコー"},
    {U"くうこう", U"クーコー"},
    {U"けいさつ", U"ケーサツ"},
    {U"こうえん", U"コーエン"},
    {U"こうこう", U"コーコー"},
    {U"こうちゃ", U"コーチャ"},
    {U"こうばん", U"コーバン"},
    {U"じてんしゃ", U"ジテンシャ"},
    {U"すいえい", U"スイエー"},
    {U"せいと", U"セート"},
    {U"たんじょうび", U"タンジョービ"},
    {U"だいがく", U"ダイガク"},
    {U"でんしゃ", U"デンシャ"},
    {U"とうきょう", U"トーキョー"},
    {U"とけい", U"トケー"},
    {U"どうぶつ", U"ドーブツ"},
    {U"にちようび", U"ニチヨービ"},
    {U"にほん", U"ニホン"},
    {U"にほんご", U"ニホンゴ"},
    {U"にほんじん", U"ニホンジン"},
    {U"ひこうき", U"ヒコーキ"},
    {U"ひらがな", U"ヒラガナ"},
    {U"びょういん", U"ビョーイン"},
    {U"べんきょう", U"ベンキョー"},
    {U"ほっかいどう", U"ホッカイドー"},
    {U"ゆうびんきょく", U"ユービンキョク"},
    {U"ゆうめい", U"ユーメー"},
    {U"らいしゅう", U"ライシュー"},
    {U"りょうり", U"リョーリ"},
    {U"りょこう", U"リョコー"},
    {U"れいぞうこ", U"レーゾーコ"},
});
static_assert(std::ranges::is_sorted(kKanaWords, {}, &KanaWord::written));

}  // namespace

std::u32string_view ReadingInContext(std::u32string_view text, size_t begin, size_t end,
                                     std::string_view pronounced) {
  constexpr size_t kNear = 6;
  const std::u32string_view word = text.substr(begin, end - begin);
  const std::u32string_view before = text.substr(0, begin);
  const std::u32string_view after = text.substr(end);
  const size_t near_begin = begin - std::min(begin, kNear);
  const std::u32string_view near = text.substr(near_begin, end + kNear - near_begin);
  switch (word.front()) {
    case U'何':
      if (word == U"何" && Begins(after, {U"で", U"だ", U"の", U"な", U"と言", U"という", U"とい"}))
        return U"ナン";
      return {};
    case U'行':
      // To carry something out has an object: 調査を行って.
      if (word == U"行っ" && pronounced == "オコナッ" &&
          !Ends(before, {U"を", U"が", U"は", U"も"}))
        return U"イッ";
      return {};
    case U'明':
      return word == U"明後日" ? U"アサッテ" : U"";
    case U'一':
      return word == U"一昨日" ? U"オトトイ" : word == U"一昨年" ? U"オトトシ" : U"";
    case U'人':
      return word == U"人気" && AreThere(after) ? U"ヒトケ" : U"";
    case U'こ':
      return word == U"この間" ? U"コノアイダ" : U"";
    case U'雨':
      return word == U"雨" && pronounced == "ウ" ? U"アメ" : U"";
    case U'走':
      return word == U"走" && Ends(before, {U"メートル", U"キロ"}) ? U"ソー" : U"";
    case U'辛':
      if (word == U"辛い" && TastesHot(before, after)) return U"カライ";
      return {};
    case U'市':
      if (word == U"市場" && Has(near, {U"魚", U"野菜", U"朝", U"花", U"買", U"食"}))
        return U"イチバ";
      return {};
    case U'方': {
      const bool person = Ends(before, {U"あの", U"この", U"その", U"どの", U"女の", U"男の"}) &&
                          Begins(after, {U"は", U"も", U"に", U"を", U"の", U"と", U"です"});
      return word == U"方" && person ? U"カタ" : U"";
    }
    case U'二':
      // Not 二分する.
      return word == U"二分" && !Begins(after, {U"の", U"さ", U"し", U"す"}) ? U"ニフン" : U"";
    default:
      return {};
  }
}

KanaWord FindKanaWord(std::u32string_view text, size_t begin) {
  const std::u32string_view rest = text.substr(begin);
  KanaWord longest;
  for (auto word = std::ranges::lower_bound(kKanaWords, rest.substr(0, 1), {}, &KanaWord::written);
       word != kKanaWords.end() && word->written.front() == rest.front(); ++word) {
    if (rest.starts_with(word->written)) longest = *word;
  }
  return longest;
}

}  // namespace millrace::models
