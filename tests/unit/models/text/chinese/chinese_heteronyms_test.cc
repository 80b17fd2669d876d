#include "models/text/chinese/chinese_heteronyms.h"

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "unit/models/text/chinese/small_lexicon.h"

namespace millrace::models {
namespace {

// A lexicon of the characters in their usual readings, and of words that are read by them.
std::string LexiconText() {
  std::map<std::string, std::string> words = {
      {"一", "50\tyi1"},    {"不", "50\tbu4"},    {"不得", "50\tbu4 de5"}, {"为", "50\twei4"},
      {"了", "50\tle5"},    {"他", "50\tta1"},    {"地", "50\tdi4"},       {"地区", "50\t"},
      {"姓", "50\txing4"},  {"得", "50\tde2"},    {"很", "50\then3"},      {"快", "50\tkuai4"},
      {"慢", "50\tman4"},   {"我", "50\two3"},    {"教", "50\tjiao4"},     {"数", "50\tshu4"},
      {"着", "50\tzhe5"},   {"曾", "50\tceng2"},  {"土地", "50\t"},        {"干", "50\tgan4"},
      {"服", "50\tfu5"},    {"行", "50\txing2"},  {"走", "50\tzou3"},      {"跑", "50\tpao3"},
      {"还", "50\thai2"},   {"重", "50\tzhong4"}, {"钱", "50\tqian2"},     {"长", "50\tzhang3"},
      {"写", "50\txie3"},   {"做", "50\tzuo4"},   {"区", "50\tqu1"},       {"土", "50\ttu3"},
      {"量", "50\tliang4"}, {"大", "50\tda4"},    {"找", "50\tzhao3"},     {"第", "50\tdi4"},
      {"称", "50\tcheng1"}, {"字", "50\tzi4"},    {"只", "50\tzhi3"},      {"三", "50\tsan1"},
      {"得不", "50\t"},     {"晟", "50\tcheng2"}, {"调", "50\tdiao4"}};
  std::string text = "[total]\n9000\n[words]\n";
  for (const auto& [word, reading] : words) text += word + "\t" + reading + "\n";
  text += "[syllables]\n";
  for (const std::string syllable :
       {"chang2", "chong2", "zhi1",   "zhi3",  "san1",   "da4",   "de2",   "de5",   "dei3",
        "di4",    "gan1",   "hai2",   "hang2", "huan2",  "jiao1", "jiao4", "liao3", "shu3",
        "wei2",   "wei4",   "xing2",  "zeng1", "zhang3", "zhao2", "mu3",   "zhe5",  "zhong4",
        "bu4",    "er5",    "liang2", "shou3", "sheng4", "tiao2", "zang1", "zang4"})
    text += syllable + "\t" + syllable + "\n";
  return text +
         "[start]\nB\t-0.3\nM\t-3.14e100\nE\t-3.14e100\nS\t-1.5\n[transitions]\n[emissions]\n";
}

// Words with a syllable for each character: "他 得/de2".
struct Run {
  std::vector<std::pair<const char*, const char*>> words;
  const char* syllables;  // the syllables of all words, as they are chosen
};
void PrintTo(const Run& value, std::ostream* out) { *out << value.syllables; }

class ChineseHeteronymTest : public ::testing::TestWithParam<Run> {};
TEST_P(ChineseHeteronymTest, IsReadByItsNeighbours) {
  const LexiconFile file(LexiconText());
  const auto lexicon = ChineseLexicon::Open(file.path());
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  std::vector<ChineseReading> words;
  for (const auto& [word, syllables] : GetParam().words)
    words.push_back({word, absl::StrSplit(syllables, ' ')});
  ChooseReadings(*lexicon, words);
  std::string spoken;
  for (const ChineseReading& word : words) {
    for (const std::string& syllable : word.syllables)
      spoken += (spoken.empty() ? "" : " ") + syllable;
  }
  EXPECT_EQ(spoken, GetParam().syllables);
}

INSTANTIATE_TEST_SUITE_P(
    Chinese, ChineseHeteronymTest,
    ::testing::Values(
        Run{{{"慢慢", "man4 man4"}, {"地", "di4"}, {"走", "zou3"}}, "man4 man4 de5 zou3"},
        Run{{{"慢慢", "man4 man4"}, {"地走", "di4 zou3"}}, "man4 man4 de5 zou3"},
        Run{{{"慢慢", "man4 man4"}, {"地", "di4"}}, "man4 man4 de5"},
        Run{{{"轻轻地", "qing1 qing1 di4"}, {"走", "zou3"}}, "qing1 qing1 de5 zou3"},
        Run{{{"曾母", "ceng2 mu3"}, {"大", "da4"}}, "zeng1 mu3 da4"},
        Run{{{"土地", "tu3 di4"}, {"很", "hen3"}, {"大", "da4"}}, "tu3 di4 hen3 da4"},
        Run{{{"土地", "tu3 di4"}, {"地区", "di4 qu1"}, {"大", "da4"}}, "tu3 di4 di4 qu1 da4"},
        Run{{{"三", "san1"}, {"只", "zhi3"}, {"大", "da4"}}, "san1 zhi1 da4"},
        Run{{{"三只", "san1 zhi3"}, {"大", "da4"}}, "san1 zhi1 da4"},
        Run{{{"我", "wo3"}, {"只", "zhi3"}, {"写", "xie3"}}, "wo3 zhi3 xie3"},
        Run{{{"跑", "pao3"}, {"得", "de2"}, {"快", "kuai4"}}, "pao3 de5 kuai4"},
        Run{{{"我", "wo3"}, {"得", "de2"}, {"走", "zou3"}}, "wo3 dei3 zou3"},
        Run{{{"他", "ta1"}, {"得", "de2"}, {"了", "le5"}}, "ta1 de2 le5"},
        Run{{{"不", "bu4"}, {"得", "de2"}, {"不", "bu4"}}, "bu4 de2 bu4"},
        Run{{{"还", "hai2"}, {"我", "wo3"}, {"钱", "qian2"}}, "huan2 wo3 qian2"},
        Run{{{"他", "ta1"}, {"还", "hai2"}, {"走", "zou3"}}, "ta1 hai2 zou3"},
        Run{{{"还", "hai2"}, {"了", "le5"}, {"钱", "qian2"}}, "huan2 le5 qian2"},
        Run{{{"得", "de2"}, {"走", "zou3"}}, "dei3 zou3"},
        Run{{{"的", "de5"}, {"曾", "ceng2"}, {"先生", "xian1 sheng5"}}, "de5 zeng1 xian1 sheng5"},
        Run{{{"很", "hen3"}, {"长", "zhang3"}}, "hen3 chang2"},
        Run{{{"长", "zhang3"}, {"大", "da4"}}, "zhang3 da4"},
        Run{{{"重", "zhong4"}, {"写", "xie3"}}, "chong2 xie3"},
        Run{{{"很", "hen3"}, {"重", "zhong4"}}, "hen3 zhong4"},
        Run{{{"第", "di4"}, {"一", "yi1"}, {"行", "xing2"}}, "di4 yi1 hang2"},
        Run{{{"做", "zuo4"}, {"不", "bu4"}, {"了", "le5"}}, "zuo4 bu4 liao3"},
        Run{{{"找", "zhao3"}, {"着", "zhe5"}, {"了", "le5"}}, "zhao3 zhao2 le5"},
        Run{{{"数", "shu4"}, {"一", "yi1"}, {"数", "shu4"}}, "shu3 yi1 shu3"},
        Run{{{"服", "fu5"}, {"干", "gan4"}, {"了", "le5"}}, "fu5 gan1 le5"},
        Run{{{"教", "jiao4"}, {"我", "wo3"}}, "jiao1 wo3"},
        Run{{{"称", "cheng1"}, {"为", "wei4"}}, "cheng1 wei2"},
        Run{{{"姓", "xing4"}, {"曾", "ceng2"}}, "xing4 zeng1"},
        Run{{{"曾", "ceng2"}, {"老师", "lao3 shi1"}}, "zeng1 lao3 shi1"},
        Run{{{"他", "ta1"}, {"曾", "ceng2"}, {"走", "zou3"}}, "ta1 ceng2 zou3"},
        Run{{{"人", "ren2"}, {"不得", "bu4 de5"}, {"走", "zou3"}}, "ren2 bu4 de2 zou3"},
        Run{{{"恨", "hen4"}, {"不得", "bu4 de5"}, {"走", "zou3"}}, "hen4 bu4 de5 zou3"},
        Run{{{"空", "kong1"}, {"着手", "zhuo2 shou3"}, {"走", "zou3"}}, "kong1 zhe5 shou3 zou3"},
        Run{{{"他", "ta1"}, {"着手", "zhuo2 shou3"}}, "ta1 zhuo2 shou3"},
        Run{{{"草地", "cao3 di5"}, {"很", "hen3"}, {"大", "da4"}}, "cao3 di4 hen3 da4"},
        Run{{{"那儿", "na4 er2"}, {"很", "hen3"}, {"大", "da4"}}, "na4 er5 hen3 da4"},
        Run{{{"点", "dian3"}, {"儿", "er2"}, {"大", "da4"}}, "dian3 er5 da4"},
        Run{{{"花儿", "hua1 er2"}, {"大", "da4"}}, "hua1 er2 da4"},
        Run{{{"这块", "zhe4 kuai4"}, {"地", "de5"}, {"大", "da4"}}, "zhe4 kuai4 di4 da4"},
        Run{{{"一步", "yi2 bu4"}, {"一步", "yi2 bu4"}, {"地", "di4"}, {"走", "zou3"}},
            "yi2 bu4 yi2 bu4 de5 zou3"},
        Run{{{"得不", "de2 bu4"}, {"走", "zou3"}}, "de2 bu4 zou3"},
        Run{{{"音量", "yin1 liang4"}, {"调", "diao4"}, {"大", "da4"}}, "yin1 liang4 tiao2 da4"},
        Run{{{"获", "huo4"}, {"得", "de2"}, {"好", "hao3"}}, "huo4 de2 hao3"},
        Run{{{"越", "yue4"}, {"多", "duo1"}, {"地", "di4"}, {"走", "zou3"}}, "yue4 duo1 de5 zou3"},
        Run{{{"睡", "shui4"}, {"不", "bu4"}, {"着", "zhe5"}}, "shui4 bu4 zhao2"},
        Run{{{"李晟", "li3 cheng2"}, {"大", "da4"}}, "li3 sheng4 da4"},
        Run{{{"温度", "wen1 du4"}, {"为", "wei4"}, {"三", "san1"}}, "wen1 du4 wei2 san1"},
        Run{{{"为", "wei4"}, {"他", "ta1"}, {"做", "zuo4"}}, "wei4 ta1 zuo4"},
        Run{{{"女儿", "nv3 er2"}, {"很", "hen3"}, {"大", "da4"}}, "nv3 er2 hen3 da4"},
        Run{{{"量", "liang4"}, {"体温", "ti3 wen1"}}, "liang2 ti3 wen1"},
        Run{{{"曾先生", "ceng2 xian1 sheng1"}, {"走", "zou3"}}, "zeng1 xian1 sheng1 zou3"},
        Run{{{"我数", "wo3 shu4"}, {"了", "le5"}, {"数", "shu4"}}, "wo3 shu3 le5 shu3"},
        Run{{{"中", "zhong1"}, {"了", "le5"}, {"大奖", "da4 jiang3"}}, "zhong4 le5 da4 jiang3"},
        Run{{{"中", "zhong1"}, {"了", "le5"}, {"走", "zou3"}}, "zhong1 le5 zou3"},
        Run{{{"头发", "tou2 fa5"}, {"也", "ye3"}, {"长", "zhang3"}}, "tou2 fa5 ye3 chang2"},
        Run{{{"号线", "hao4 xian4"}, {"地铁口", "di4 tie3 kou3"}}, "hao4 xian4 di4 tie3 kou3"},
        Run{{{"一个劲儿", "yi2 ge4 jin4 er5"}, {"地", "di4"}, {"走", "zou3"}},
            "yi2 ge4 jin4 er5 de5 zou3"},
        Run{{{"十二", "shi2 er4"}, {"行", "xing2"}, {"有", "you3"}}, "shi2 er4 hang2 you3"},
        Run{{{"脏", "zang4"}, {"衣服", "yi1 fu5"}}, "zang1 yi1 fu5"},
        Run{{{"心脏", "xin1 zang4"}, {"大", "da4"}}, "xin1 zang4 da4"}));

}  // namespace
}  // namespace millrace::models
