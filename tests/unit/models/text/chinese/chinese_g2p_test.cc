#include "models/text/chinese/chinese_g2p.h"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fakes/fake_fallback.h"
#include "fakes/linear_time.h"
#include "models/text/chinese/chinese_text.h"
#include "models/text/unicode.h"
#include "unit/models/text/chinese/small_lexicon.h"

namespace millrace::models {
namespace {

std::string WrittenOut(std::string_view text) {
  const auto written = WriteChineseOut(text);
  if (!written.ok()) return written.status().ToString();
  std::string utf8;
  for (const char32_t c : written->text) utf8 += EncodeUtf8(c);
  return utf8;
}

struct Written {
  const char* text;
  const char* spoken;
};
void PrintTo(const Written& value, std::ostream* out) { *out << value.text; }

class WrittenOutTest : public ::testing::TestWithParam<Written> {};
TEST_P(WrittenOutTest, IsAsPeopleSayIt) {
  EXPECT_EQ(WrittenOut(GetParam().text), GetParam().spoken);
}

INSTANTIATE_TEST_SUITE_P(
    Chinese, WrittenOutTest,
    ::testing::Values(
        Written{"12v电池", "十二伏电池"}, Written{"3v3", "三v三"}, Written{"3V3", "三V三"},
        Written{"110、119和120都是", "幺幺零、幺幺九和幺二零都是"},
        Written{"110、120厘米", "一百一十、一百二十厘米"}, Written{"0", "零"}, Written{"10", "十"},
        Written{"15人", "十五人"}, Written{"20", "二十"}, Written{"105", "一百零五"},
        Written{"110", "一百一十"}, Written{"115", "一百一十五"}, Written{"1001", "一千零一"},
        Written{"1,234元", "一千二百三十四元"}, Written{"10000", "一万"},
        Written{"10050", "一万零五十"}, Written{"1234567", "一百二十三万四千五百六十七"},
        Written{"100000000", "一亿"}, Written{"2个人", "两个人"}, Written{"2号", "二号"},
        Written{"3.14", "三点一四"}, Written{"50%", "百分之五十"}, Written{"-5℃", "负五摄氏度"},
        Written{"1/2", "二分之一"}, Written{"2024年5月", "二零二四年五月"},
        Written{"二〇二四年", "二零二四年"}, Written{"2025-12-01", "二零二五年十二月一日"},
        Written{"10:30", "十点三十分"}, Written{"8:05", "八点零五分"}, Written{"2:00", "两点"},
        Written{"¥300", "三百元"}, Written{"$3亿", "三亿美元"}, Written{"￥１２", "十二元"},
        Written{"￥12.50", "十二元五角"}, Written{"¥3.05", "三元零五分"},
        Written{"¥0.99", "九角九分"}, Written{"2.25元", "两元二角五分"}, Written{"¥10.00", "十元"},
        Written{"¥12.50万", "十二点五万元"}, Written{"$12.50", "十二点五美元"},
        Written{"3.5元", "三点五元"}, Written{"13812345678", "幺三八幺二三四五六七八"},
        Written{"010-12345678", "零幺零幺二三四五六七八"}, Written{"5km", "五公里"},
        Written{"3~5个", "三至五个"}, Written{"007", "零零七"}, Written{"20000", "两万"},
        Written{"2500", "两千五百"}, Written{"12000", "一万二千"}, Written{"200", "二百"},
        Written{"2亿", "两亿"}, Written{"第2次", "第二次"}, Written{"2年级", "二年级"},
        Written{"2点半", "两点半"}, Written{"下午2点", "下午两点"}, Written{"2小时", "两小时"},
        Written{"2月", "二月"}, Written{"2km", "两公里"}, Written{"2.5km", "二点五公里"},
        Written{"比分是3:2", "比分是三比二"}, Written{"6×8=48", "六乘八等于四十八"},
        Written{"3 + 4 = 7", "三 加 四 等于 七"}, Written{"5-2=3", "五减二等于三"},
        Written{"5-2天", "五至两天"}, Written{"房间号1203", "房间号幺二零三"},
        Written{"航班CA1234", "航班CA幺二三四"}, Written{"C919飞机", "C九一九飞机"},
        Written{"RMB1000", "RMB一千"}, Written{"QQ号是12345", "QQ号是幺二三四五"},
        Written{"以3-1战胜", "以三比一 战胜"}, Written{"16:9", "十六比九"},
        Written{"10:30:45", "十点三十分四十五秒"}, Written{"50%-60%", "百分之五十至百分之六十"},
        Written{"5km-10km", "五公里至十公里"}, Written{"10–20人", "十至二十人"},
        Written{"A-1", "A 一"}, Written{"2019-2023年", "二零一九至二零二三年"},
        Written{"2024财年", "二零二四财年"}, Written{"1.2.3版", "一点二点三版"},
        Written{"192.168.0.1", "一九二点一六八点零点一"}, Written{"打110报警", "打幺幺零报警"},
        Written{"打110分", "打一百一十分"}, Written{"密码是1234", "密码是幺二三四"},
        Written{"电话：62345678", "电话:六二三四五六七八"}, Written{"$100美元", "一百美元"},
        Written{"¥50元", "五十元"}, Written{"HK$20", "二十港元"}, Written{"US$3万", "三万美元"},
        Written{"5‰", "千分之五"}, Written{"30min", "三十分钟"}, Written{"3kWh", "三千瓦时"},
        Written{"10m³", "十立方米"}, Written{"100%", "百分之百"}, Written{"50元/人", "五十元每人"},
        Written{"50kg/袋", "五十公斤每袋"}, Written{"他/她", "他/她"},
        Written{"x+y=10", "x加y等于十"}, Written{"A-B", "A-B"}, Written{"π≈3", "派约等于三"},
        Written{"baidu.com", "baidu点com"}, Written{"Ph.D.", "Ph.D."}, Written{"①首先", "一、首先"},
        Written{"G1234次", "G幺二三四次"}, Written{"1234次", "一千二百三十四次"},
        Written{"≥18岁", "大于等于十八岁"}, Written{"±5", "正负五"}, Written{">5", "大于五"},
        Written{"≈3", "约等于三"}, Written{"√2", "根号二"}, Written{"x²", "x的平方"},
        Written{"2²=4", "二的平方等于四"}, Written{"2³", "二的三次方"},
        Written{"10⁻³", "十的负三次方"}, Written{"10^6", "十的六次方"}, Written{"1∶2", "一比二"},
        Written{"a@163.com", "a艾特一六三点com"}, Written{"见https://baidu.com", "见 baidu点com"},
        Written{"C++和C#", "C加加和C井"}, Written{"100+", "一百加"}, Written{"A&B", "A和B"},
        Written{"No.1", "第一"}, Written{"歼-20", "歼二零"}, Written{"长征-5号", "长征五号"},
        Written{"气温-5度", "气温负五度"}, Written{"100元-200元", "一百元至二百元"},
        Written{"5月1日-3日", "五月一日至三日"}, Written{"8月-2.5%", "八月负百分之二点五"},
        Written{"2-0", "二比零"}, Written{"1-0战胜", "一比零战胜"},
        Written{"中国队3-1日本队", "中国队三比一 日本队"}, Written{"Ⅰ、Ⅻ", "一、十二"},
        Written{"卡6222 0212 3456 7890", "卡六二二二零二幺二三四五六七八九零"},
        Written{"5元/kg", "五元每公斤"}, Written{"5万元/㎡", "五万元每平方米"},
        Written{"010-8888 6666", "零幺零八八八八六六六六"}, Written{"2:1结束", "二比一 结束"},
        Written{"30㎡", "三十平方米"}, Written{"2㎏", "两公斤"}, Written{"2室1厅", "两室一厅"},
        Written{"3室2厅2卫", "三室两厅两卫"}, Written{"F1赛车", "F一 赛车"},
        Written{"98年世界杯", "九八年世界杯"}, Written{"98年5月", "九八年五月"},
        Written{"60年来", "六十年来"}, Written{"Wi-Fi", "WiFi"},
        Written{"Spider-Man", "Spider-Man"}, Written{"2个", "两个"}, Written{"5-10", "五至十"},
        Written{"12306", "幺二三零六"}, Written{"985高校", "九八五高校"},
        Written{"985元", "九百八十五元"}, Written{"9·11事件", "九·一一事件"},
        Written{"沪B·88888", "沪B·八八八八八"},
        Written{"+86 10 1234 5678", "加八六 幺零幺二三四五六七八"},
        Written{"138 1234 5678", "幺三八幺二三四五六七八"},
        Written{"6222021234567890", "六二二二零二一二三四五六七八九零"},
        Written{"10m/s", "十米每秒"}, Written{"5mA", "五毫安"}, Written{"27\"屏", "二十七英寸屏"},
        Written{"中国vs美国", "中国对美国"}, Written{"A VS. B", "A 对 B"}, Written{"vs", "对"},
        Written{"VS2022", "VS二零二二"}, Written{"10w粉丝", "十万粉丝"}, Written{"2w", "两万"},
        Written{"波音737-800", "波音七三七 八百"}, Written{"波音747", "波音七四七"},
        Written{"奥迪A4L", "奥迪A四L"}, Written{"4L", "四升"}, Written{"301路", "三零幺路"},
        Written{"15路", "十五路"}, Written{"90后", "九零后"}, Written{"5天后", "五天后"},
        Written{"1080P", "幺零八零P"}, Written{"i5-12400", "i五 一万二千四百"},
        Written{"2星期", "两星期"}, Written{"1203房间", "幺二零三房间"},
        Written{"3间房间", "三间房间"}, Written{"100，200，300", "一百，二百，三百"},
        Written{"１，２３４元", "一千二百三十四元"}, Written{"京A12345，", "京A一二三四五，"},
        Written{"1080P/60帧", "幺零八零P/六十帧"}, Written{"(720p)", "(七二零p)"},
        Written{"1080Pro", "一千零八十Pro"}, Written{"1·5倍", "一点五倍"},
        Written{"3·5%", "百分之三点五"}, Written{"转分机8012", "转分机八零幺二"},
        Written{"24/7服务", "二十四小时七天服务"}, Written{"以21:19获胜", "以二十一比十九获胜"},
        Written{"21:19开始", "二十一点十九分开始"}, Written{"2023/24赛季", "二零二三二四赛季"},
        Written{"2023/4", "两千零二十三/四"}, Written{"404页面", "四零四页面"},
        Written{"404人", "四百零四人"}, Written{"3'20\"", "三分二十秒"},
        Written{"取件码3-2-8805", "取件码三二八八零五"}, Written{"端口8080", "端口八零八零"},
        Written{"12345678转8001", "一千二百三十四万五千六百七十八转八零零幺"},
        Written{"转800元", "转八百元"}, Written{"油2大勺", "油两大勺"},
        Written{"成绩1:35:20", "成绩一小时三十五分二十秒"},
        Written{"6.1mmol/L", "六点一毫摩尔每升"}, Written{"图3-2", "图三杠二"},
        Written{"2单元301", "二单元三零幺"}, Written{"单元301", "单元三零幺"},
        Written{"国道318", "国道三幺八"}, Written{"318国道", "三幺八国道"},
        Written{"120急救", "幺二零急救"}, Written{"120人", "一百二十人"},
        Written{"618大促", "六一八大促"}, Written{"国安2-1申花", "国安二比一 申花"},
        Written{"5-3号楼", "五至三号楼"}, Written{"3-5级", "三至五级"},
        Written{"日期20260115", "日期二零二六年一月十五日"},
        Written{"1千米=1000米", "一千米等于一千米"}, Written{"(1881—1936)", "(一八八一至一九三六)"},
        Written{"10⁸米/秒", "十的八次方米每秒"}, Written{"A$5", "五澳元"},
        Written{"销量10万+", "销量十万加"}, Written{"985、211院校", "九八五、二幺幺院校"}));

class ChineseG2pTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto lexicon = ChineseLexicon::Open(file_.path());
    ASSERT_TRUE(lexicon.ok()) << lexicon.status();
    g2p_ = std::make_unique<const ChineseG2p>(*std::move(lexicon));
  }

  std::string Spoken(std::string_view text) const {
    const auto phonemes = g2p_->Phonemize(text);
    return phonemes.ok() ? phonemes->phonemes : std::string(phonemes.status().message());
  }

  const LexiconFile file_;
  std::unique_ptr<const ChineseG2p> g2p_;
};

TEST_F(ChineseG2pTest, WordsAreReadByTheirPhrases) {
  EXPECT_EQ(Spoken("你好，银行。"), "N2H3, N2H2.");
  EXPECT_EQ(Spoken("行一个"), "X2/Y2G4");
  EXPECT_EQ(Spoken("“你好”（一个）！"), "“N2H3” (Y2G4)!");
  // Quotes of Chinese are written without spaces.
  EXPECT_EQ(Spoken("好“你好”好，《你好》好"), "H3“N2H3”H3, “N2H3” H3");
  EXPECT_EQ(Spoken("你好——好"), "N2H3——H3");
}

TEST_F(ChineseG2pTest, TonesChangeInCompany) {
  EXPECT_EQ(Spoken("好你好"), "H3N2H3");
  EXPECT_EQ(Spoken("银行好好"), "N2H2/H2H3");
  // Not across a pause.
  EXPECT_EQ(Spoken("好，好"), "H3, H3");
}

TEST(ChineseErhuaTest, TheEndingIsAPartOfTheSyllableBeforeIt) {
  std::string text = kSmallLexicon;
  text.insert(text.find("好\t10"), "儿\t10\ter2\n");
  text.insert(text.find("ge4\tG4"), "er2\tE2\ner5\tE5\n");
  const LexiconFile file(text);
  auto lexicon = ChineseLexicon::Open(file.path());
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  const ChineseG2p g2p(*std::move(lexicon));
  EXPECT_EQ(g2p.Phonemize("一个儿")->phonemes, "Y2GR4");
  EXPECT_EQ(g2p.Phonemize("儿")->phonemes, "E2");
}

TEST_F(ChineseG2pTest, CharactersThatFormNoWordOfTheLexiconAreANameTogether) {
  EXPECT_EQ(Spoken("张伟你好"), "Z1W3/N2H3");
}

TEST(ChineseWordsTest, WithPartsOfSpeechTheBeginningOfAWordMayEndTheCharacters) {
  std::string text = kSmallLexicon;
  text.resize(text.find("[start]"));
  text +=
      "[start]\nBn\t-0.3\nMn\t-3.14e100\nEn\t-3.14e100\nSn\t-1.5\nSv\t-9\n"
      "[transitions]\nBn\tMn\t-0.1\nSn\tSn\t-0.7\n"
      "[emissions]\n伟\tMn\t-1\tSn\t-3\n张\tBn\t-3\tSn\t-3\n";
  const LexiconFile file(text);
  auto lexicon = ChineseLexicon::Open(file.path());
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  EXPECT_EQ(ChineseG2p(*std::move(lexicon)).Phonemize("张伟")->phonemes, "Z1W3");
}

TEST_F(ChineseG2pTest, WhatHasNoReadingIsLeftOut) {
  EXPECT_EQ(Spoken("龘你好☆"), "N2H3");
  EXPECT_EQ(Spoken(""), "");
}

TEST_F(ChineseG2pTest, LettersAreSpelledAndOtherScriptsNamed) {
  EXPECT_EQ(Spoken("AB银行"), "ˈA bˈi N2H2");
  EXPECT_EQ(Spoken("你好Дом"),
            "text: the character 'Д' at byte 6 is Cyrillic text, which is not read in Chinese");
}

TEST_F(ChineseG2pTest, EnglishWordsAreAskedForOnceAndAbbreviationsSpelled) {
  auto lexicon = ChineseLexicon::Open(file_.path());
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  const auto english = std::make_shared<testing::FakeFallback>();
  const ChineseG2p g2p(*std::move(lexicon), english);
  const auto spoken = g2p.Phonemize("iPhone你好Wi-Fi，iPhone APP银行");
  ASSERT_TRUE(spoken.ok()) << spoken.status();
  EXPECT_EQ(spoken->phonemes, "<iPhone> N2H3 <WiFi>, <iPhone> ˈA pˈi pˈi N2H2");
  EXPECT_EQ(english->calls, (std::vector<std::vector<std::string>>{{"WiFi", "iPhone"}}));
  EXPECT_EQ(spoken->words.front().end, 6U);
  EXPECT_EQ(g2p.Phonemize("ABC，km，你好")->phonemes, "ˈA bˈi sˈi, kˈA ˈɛm, N2H3");
  EXPECT_EQ(english->calls.size(), 1U);
  english->fails = true;
  EXPECT_EQ(g2p.Phonemize("Hello").status().message(), "no fallback today");
}

TEST_F(ChineseG2pTest, WordsKnowTheirBytesInTheText) {
  const std::string text = "１个银行，你好";
  const auto spoken = g2p_->Phonemize(text);
  ASSERT_TRUE(spoken.ok()) << spoken.status();
  std::vector<std::string> words;
  for (const PhonemeWord& word : spoken->words) {
    words.push_back(
        text.substr(word.begin, word.end - word.begin) + "=" +
        spoken->phonemes.substr(word.phonemes_begin, word.phonemes_end - word.phonemes_begin));
  }
  EXPECT_EQ(words, (std::vector<std::string>{"１个=Y2G4", "银行=N2H2", "你好=N2H3"}));
}

TEST_F(ChineseG2pTest, AnyTextHasWordsInOrderWithinIt) {
  constexpr std::u32string_view kCommon =
      U"一个你好银行长张伟，。1234567890-:/.,%¥$年月日亿万～〇ＡbC ";
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same texts in each run
  for (int i = 0; i < 10'000; ++i) {
    std::string text;
    for (size_t length = random() % 40; length > 0; --length) {
      text += random() % 4 == 0 ? EncodeUtf8(1 + random() % 0xD000)
                                : EncodeUtf8(kCommon[random() % kCommon.size()]);
    }
    const auto spoken = g2p_->Phonemize(text);
    if (!spoken.ok()) {
      ASSERT_EQ(spoken.status().code(), absl::StatusCode::kInvalidArgument) << text;
      continue;
    }
    size_t before = 0;
    size_t phonemes_before = 0;
    for (const PhonemeWord& word : spoken->words) {
      ASSERT_LE(before, word.begin) << text;
      ASSERT_LT(word.begin, word.end) << text;
      ASSERT_LE(word.end, text.size()) << text;
      ASSERT_LE(phonemes_before, word.phonemes_begin) << text;
      ASSERT_LT(word.phonemes_begin, word.phonemes_end) << text;
      before = word.end;
      phonemes_before = word.phonemes_end;
    }
  }
}

TEST_F(ChineseG2pTest, TakesLinearTime) {
  for (const std::string piece : {"你好银行", "张伟", "12", "Ab", "1-"})
    ExpectLinearTime(piece, 100'000, [&](const std::string& text) { Spoken(text); });
}

}  // namespace
}  // namespace millrace::models
