#include "models/text/japanese/kana_phonemes.h"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string>

#include "fakes/linear_time.h"

namespace millrace::models {
namespace {

std::string Spoken(std::string_view text) {
  const auto phonemes = KanaPhonemes(text);
  return phonemes.ok() ? phonemes->phonemes : phonemes.status().ToString();
}

struct Case {
  const char* kana;
  const char* phonemes;
};
void PrintTo(const Case& value, std::ostream* out) { *out << value.kana; }

class KanaWordTest : public testing::TestWithParam<Case> {};
TEST_P(KanaWordTest, IsSpokenAsMisakiSays) {
  EXPECT_EQ(Spoken(GetParam().kana), GetParam().phonemes);
}

// These are the phonemes of misaki 0.9.4 (cutlet.py, without its dictionary).
INSTANTIATE_TEST_SUITE_P(
    Kana, KanaWordTest,
    testing::Values(
        Case{"こんにちは", "koɲɲiʨiβa"}, Case{"せかい", "sekai"}, Case{"がっこう", "ɡaʔkoː"},
        Case{"とうきょう", "toːkʲoː"}, Case{"カタカナ", "katakana"}, Case{"パーティー", "paːtʲiː"},
        Case{"ファイル", "ɸaiɾɯ"}, Case{"ウィンドウ", "βindoɯ"}, Case{"チェック", "ʨeʔkɯ"},
        Case{"ヴァイオリン", "vaioɾʲiɴ"}, Case{"しんぶん", "ɕimbɯɴ"}, Case{"さんか", "saŋka"},
        Case{"しんにん", "ɕiɲɲiɴ"}, Case{"ほんや", "hoɴja"}, Case{"ジュース", "ʥɨːsɨ"},
        Case{"りょこう", "ɾʲokoː"}, Case{"ティッシュ", "tʲiʔɕɨ"}, Case{"デュエット", "dʲɨeʔto"},
        Case{"フィルム", "ɸʲiɾɯmɯ"}, Case{"シェフ", "ɕeɸɯ"}, Case{"ツァーリ", "ʦaːɾʲi"},
        Case{"トゥー", "tɯː"}, Case{"イェス", "jesɨ"}, Case{"クォーツ", "kᵝoːʦɨ"},
        Case{"グァム", "ɡᵝamɯ"}, Case{"ぎゃく", "ɡʲakɯ"}, Case{"きゅう", "kʲɨː"},
        Case{"にゃ", "ɲa"}, Case{"ひゃく", "çakɯ"}, Case{"スィ", "si"}, Case{"ズィ", "zi"},
        Case{"ニェ", "ɲe"}, Case{"ヒェ", "çe"}, Case{"テュ", "tʲɨ"}, Case{"フュ", "ɸʲɨ"},
        Case{"ヴュ", "bʲɨ"}, Case{"ゔょ", "bʲo"}, Case{"キェ", "kʲe"}, Case{"ギェ", "ɡʲe"},
        Case{"ビェ", "bʲe"}, Case{"ミェ", "mʲe"}, Case{"リェ", "ɾʲe"}, Case{"ヂェ", "ʥe"},
        Case{"ドゥ", "dɯ"}, Case{"ウォ", "βo"}, Case{"ツィ", "ʦʲi"}, Case{"ツェ", "ʦe"},
        Case{"ツォ", "ʦo"}, Case{"フェ", "ɸe"}, Case{"フォ", "ɸo"}, Case{"ヴィ", "vʲi"},
        Case{"ヴェ", "ve"}, Case{"ホゥ", "hɯ"}));

// As dictionaries give the pronunciation, with which the voices were trained.
INSTANTIATE_TEST_SUITE_P(
    LongVowels, KanaWordTest,
    testing::Values(Case{"ありがとうございます", "aɾʲiɡatoːɡoʣaimasɨ"}, Case{"せんせい", "seɴseː"},
                    Case{"がくせい", "ɡakɯseː"}, Case{"おかあさん", "okaːsaɴ"},
                    Case{"おおきい", "oːkʲiː"}, Case{"おとうさん", "otoːsaɴ"},
                    Case{"おもう", "omoɯ"}, Case{"している", "ɕiteiɾɯ"}, Case{"ていねい", "teːneː"},
                    Case{"くうき", "kɯːkʲi"}, Case{"でんしゃでいきます", "deɴɕadeikʲimasɨ"},
                    Case{"それでいい", "soɾedeiː"}, Case{"うんでいのさ", "ɯndeːnosa"}));

INSTANTIATE_TEST_SUITE_P(Particles, KanaWordTest,
                         testing::Values(Case{"こんばんは", "kombaɴβa"},
                                         Case{"わたしはがくせいです", "βataɕiβaɡakɯseːdesɨ"},
                                         Case{"えきへいきます", "ekʲieikʲimasɨ"},
                                         Case{"それではまた", "soɾedeβamata"},
                                         Case{"はははへやへいきます", "hahaβahejaeikʲimasɨ"},
                                         Case{"ごはん", "ɡohaɴ"}, Case{"おはよう", "ohajoː"},
                                         Case{"たいへん", "taiheɴ"}, Case{"コハ", "koha"}));

// Without spaces around it.
INSTANTIATE_TEST_SUITE_P(
    TopicParticles, KanaWordTest,
    testing::Values(Case{"りんごはおいしい", "ɾʲiŋɡoβaoiɕiː"},
                    Case{"くるまははやい", "kɯɾɯmaβahajai"},
                    Case{"コーヒーはすきです", "koːçiːβasɨkʲidesɨ"},
                    Case{"きはたかい", "kʲiβatakai"}, Case{"はははやさしい", "hahaβajasaɕiː"},
                    Case{"かいはつはつづく", "kaihaʦɨβaʦɨzɨkɯ"},
                    Case{"よこはまはおおきい", "jokohamaβaoːkʲiː"}, Case{"はいはい", "haihai"},
                    Case{"みずをはこぶ", "mʲizɨohakobɯ"}, Case{"へやへはいる", "hejaehaiɾɯ"},
                    Case{"えはがき", "ehaɡakʲi"}, Case{"ほんをはやくよむ", "hoɴohajakɯjomɯ"}));

INSTANTIATE_TEST_SUITE_P(Numbers, KanaWordTest,
                         testing::Values(Case{"9にち", "kɯɲiʨi"}, Case{"27にち", "ɲiʥɨːɕiʨiɲiʨi"},
                                         Case{"2026ねん", "ɲiseɲɲiʥɨːɾokɯneɴ"},
                                         Case{"100えん", "çakɯeɴ"}, Case{"4がつ", "ɕiɡaʦɨ"},
                                         Case{"3ぼん", "samboɴ"}, Case{"１ぽん", "iʔpoɴ"},
                                         Case{"7じ", "ɕiʨiʥi"}, Case{"2にん", "ɸɯtaɾʲi"},
                                         Case{"3.5", "santeŋɡo"}, Case{"03-12", "ʣeɾosannoiʨiɲi"},
                                         Case{"1.5", "iʔteŋɡo"}, Case{"6ページ", "ɾokɯpeːʥi"},
                                         Case{"14か", "ʥɨːjoʔka"}, Case{"10かこく", "ʥɨʔkakokɯ"},
                                         Case{"5から", "ɡokaɾa"}, Case{"0じ", "ɾeːʥi"}));

TEST(KanaPhonemesTest, PunctuationIsKeptWithSpacesAsInLatinText) {
  EXPECT_EQ(Spoken("「はい」、そうです。げんき？"), "“hai”, soːdesɨ. ɡeŋkʲi?");
  EXPECT_EQ(Spoken("アイス・クリーム（すき）！"), "aisɨ kɯɾʲiːmɯ (sɨkʲi)!");
}

TEST(KanaPhonemesTest, HalfWidthAndCombiningMarksAreTheSameKana) {
  EXPECT_EQ(Spoken("ｶﾞｯｺｳ"), Spoken("がっこう"));
  EXPECT_EQ(Spoken("ﾊﾟﾝ"), Spoken("パン"));
  EXPECT_EQ(Spoken("か\u3099"), Spoken("が"));
  EXPECT_EQ(Spoken("は\u309A"), Spoken("ぱ"));
}

TEST(KanaPhonemesTest, RepetitionMarksRepeat) {
  EXPECT_EQ(Spoken("こゝろ"), Spoken("こころ"));
  EXPECT_EQ(Spoken("すゞき"), Spoken("すずき"));
}

TEST(KanaPhonemesTest, OthersAreRefusedByNameAndPlace) {
  EXPECT_EQ(KanaPhonemes("きょうは東京").status().message(),
            "text: the character '東' at byte 12 is a kanji; Japanese with kanji needs a MeCab "
            "dictionary "
            "on the server (mecab-ipadic-utf8); or write its reading in hiragana or katakana");
  EXPECT_EQ(
      KanaPhonemes("あA").status().message(),
      "text: the character 'A' at byte 3 is not kana; without a MeCab dictionary on the server "
      "(mecab-ipadic-utf8) write it in hiragana or katakana");
  EXPECT_EQ(KanaPhonemes("あ\xff").status().message(), "text: byte 3 is not UTF-8");
  EXPECT_FALSE(KanaPhonemes("ゝ").ok());
  EXPECT_FALSE(KanaPhonemes("人々").ok());
  for (const char* text : {"きょうは東京", "あA", "あ\xff", "ゝ", "こんにちは。"})
    EXPECT_EQ(CheckKana(text), KanaPhonemes(text).status());
}

TEST(KanaPhonemesTest, AnyKanaSequenceIsSpokenInLinearTime) {
  std::mt19937 random(3);
  std::string text;
  while (text.size() < 75'000) {
    const unsigned c = 0x3041 + random() % 0x56 + (random() % 2) * 0x60;
    text += {static_cast<char>(0xE3), static_cast<char>(0x80 | ((c >> 6) & 0x3F)),
             static_cast<char>(0x80 | (c & 0x3F))};
  }
  ExpectLinearTime(text, 4 * text.size(), [](const std::string& kana) {
    const auto phonemes = KanaPhonemes(kana);
    ASSERT_TRUE(phonemes.ok()) << phonemes.status();
    EXPECT_LT(phonemes->phonemes.size(), kana.size() * 3);
  });
}

TEST(KanaPhonemesTest, WordsStandBetweenSpacesAndMarks) {
  const std::string text = "「きょう は、ガッコウ」";
  const auto phonemes = KanaPhonemes(text);
  ASSERT_TRUE(phonemes.ok()) << phonemes.status();
  std::string found;
  for (const PhonemeWord& word : phonemes->words) {
    found +=
        text.substr(word.begin, word.end - word.begin) + "=" +
        phonemes->phonemes.substr(word.phonemes_begin, word.phonemes_end - word.phonemes_begin) +
        "|";
  }
  EXPECT_EQ(found, "きょう=kʲoː|は=βa|ガッコウ=ɡaʔkoɯ|");
  // A mark of voicing belongs to its kana.
  EXPECT_EQ(KanaPhonemes("か\u3099")->words, (std::vector<PhonemeWord>{{0, 6, 0, 3}}));
}

}  // namespace
}  // namespace millrace::models
