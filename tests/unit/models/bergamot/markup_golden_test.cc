// Text that must survive a translation, through the real models. Needs converted models:
// MILLRACE_MODELS, or var/models.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/bergamot/bergamot_model.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/models_folder.h"
#include "tests/fakes/needed.h"
#include "tests/fakes/run_model.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::bergamot {
namespace {

class TextSink final : public models::OutputSink {
 public:
  void Emit(models::Output output) override {
    const auto& part = std::get<models::TranslateOutput>(output);
    texts.resize(std::max(texts.size(), part.text_index + 1));
    texts[part.text_index] += part.text;
    lost.resize(texts.size());
    lost[part.text_index].insert(lost[part.text_index].end(), part.lost.begin(), part.lost.end());
  }

  std::vector<std::string> texts;
  std::vector<std::vector<std::string>> lost;
};

class MarkupGoldenTest : public ::testing::Test {
 protected:
  // Loads one direction; false when it is not there.
  bool Load(const std::string& source, const std::string& target) {
    const auto folder = testing::ModelsFolder() / ("bergamot-" + source + "-" + target) / "1";
    if (!std::filesystem::exists(folder)) return false;
    BergamotOptions options;
    options.weights_file = folder / "weights.safetensors";
    options.vocabulary_file = folder / "vocab.spm";
    models::ModelInfo info;
    info.details = models::TranslationInfo{.source_language = source};
    auto model = BergamotModel::Load(options, info);
    EXPECT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    return true;
  }

  std::vector<std::string> Translate(models::TranslateInput input) {
    TextSink sink;
    models::Request request(std::move(input), TimePoint::max(), sink, clock_);
    EXPECT_TRUE(testing::RunToEnd(*model_, request).ok());
    lost_ = std::move(sink.lost);
    return sink.texts;
  }
  std::string Translate(const std::string& text, models::TextFormat format) {
    models::TranslateInput input;
    input.texts = {text};
    input.format = format;
    return Translate(std::move(input)).front();
  }

  millrace::testing::FakeClock clock_;
  std::unique_ptr<models::Model> model_;
  std::vector<std::vector<std::string>> lost_;  // losses of the last texts
};

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

TEST_F(MarkupGoldenTest, WhatIsProtectedComesOutAsOftenAsItWentIn) {
  for (const auto& [source, target] : {std::pair("en", "pt"), {"pt", "en"}}) {
    MILLRACE_NEEDS(Load(source, target), "run `make models`");
    std::ifstream file(TestDataFolder() / ("protected." + std::string(source) + ".txt"));
    models::TranslateInput input;
    std::vector<std::vector<std::string>> protected_spans;
    for (std::string line; std::getline(file, line);) {
      protected_spans.emplace_back();
      std::string text;
      for (size_t at = 0; at < line.size();) {
        if (line.compare(at, 2, "«") != 0) {
          text += line[at++];
          continue;
        }
        const size_t end = line.find("»", at);
        protected_spans.back().push_back(line.substr(at + 2, end - at - 2));
        text += protected_spans.back().back();
        at = end + 2;
      }
      input.texts.push_back(text);
    }
    ASSERT_GT(input.texts.size(), 100u);
    const std::vector<std::string> translations = Translate(input);
    for (size_t i = 0; i < translations.size(); ++i) {
      for (const std::string& span : protected_spans[i]) {
        EXPECT_EQ(Count(translations[i], span), Count(input.texts[i], span))
            << input.texts[i] << "\n"
            << translations[i];
      }
    }
  }
}

// Sentences with a place for what a vocabulary of English and Portuguese lacks.
const std::map<std::string, std::vector<std::string>> kFrames = {
    {"en",
     {"He paid @ yesterday for a new book.", "Do you know @?",
      "The report says that @ is the best.", "@ was the first word that I read."}},
    {"pt",
     {"Ele pagou @ ontem por um livro novo.", "Você conhece @?", "O relatório diz que @ é melhor.",
      "@ foi a primeira palavra que eu li."}}};
const char* const kUnknown[] = {"£20",         "¥500",   "€30",    "1.000,50 €",
                                "₹100",        "£2.5m",  "€5–€10", "C#",
                                "F#",          "Müller", "Łódź",   "田中",
                                "Лев Толстой", "Αθήνα",  "محمد",   "김민수",
                                "Zürich",      "Køge",   "Straße", "Þór",
                                "n\u0303u",    "→",      "©",      "½",
                                "1½",          "m²",     "№",      "±3",
                                "≈",           "~5",     "a^2",    "\\",
                                "x<y",         "•",      "Acme™",  "§ 5",
                                "†",           "3×4",    "∞",      "5 µm",
                                "Ⅳ",           "20℃",    "🎉",      "👨‍👩‍👧",
                                "2019–2020",   "5′10″",  "‰",      "₿",
                                "𝛼",           "$$$"};
// Punctuation that stands in two places of a sentence; both must come out.
struct Punctuation {
  std::map<std::string, std::vector<std::string>> frames;
  std::vector<std::pair<const char*, const char*>> signs;
};
const Punctuation kPunctuation[] = {
    {{{"en",
       {"She said @good morning& and left.", "The word @house& is short.", "@Yes,& he said."}},
      {"pt", {"Ela disse @bom dia& e saiu.", "A palavra @casa& é curta.", "@Sim&, disse ele."}}},
     {{"“", "”"}, {"«", "»"}, {"„", "“"}, {"‘", "’"}}},
    {{{"en",
       {"He came home @ late, as always & and went to bed.",
        "London@Paris and Rome&Milan are fast.", "@ Good morning & said the man."}},
      {"pt",
       {"Ele chegou em casa @ tarde, como sempre & e foi dormir.",
        "Londres@Paris e Roma&Milão são rápidos.", "@ Bom dia & disse o homem."}}},
     {{"—", "—"}, {"–", "–"}, {"→", "→"}, {"•", "·"}}},
    {{{"en", {"Wait@ I do not know& he said.", "Well@ yes&"}},
      {"pt", {"Espere@ eu não sei& disse ele.", "Bem@ sim&"}}},
     {{"…", "…"}}}};

std::string Filled(std::string frame, char place, const std::string& with) {
  return frame.replace(frame.find(place), 1, with);
}

TEST_F(MarkupGoldenTest, WhatTheVocabularyLacksIsNeverLostInSilence) {
  for (const auto& [source, target] : {std::pair("en", "pt"), {"pt", "en"}}) {
    MILLRACE_NEEDS(Load(source, target), "run `make models`");
    std::vector<std::vector<std::string>> wanted;
    models::TranslateInput input;
    for (const std::string& frame : kFrames.at(source)) {
      for (const char* unknown : kUnknown) {
        input.texts.push_back(Filled(frame, '@', unknown));
        wanted.push_back({unknown});
      }
    }
    for (const Punctuation& punctuation : kPunctuation) {
      for (const std::string& frame : punctuation.frames.at(source)) {
        for (const auto& [first, second] : punctuation.signs) {
          input.texts.push_back(Filled(Filled(frame, '@', first), '&', second));
          wanted.push_back({first, second});
        }
      }
    }
    ASSERT_GT(input.texts.size(), 200u);
    const std::vector<std::string> translations = Translate(input);
    size_t lost = 0;
    for (size_t i = 0; i < translations.size(); ++i) {
      lost += lost_[i].size();
      for (const std::string& part : wanted[i]) {
        if (std::ranges::find(lost_[i], part) != lost_[i].end()) continue;
        EXPECT_EQ(Count(translations[i], part), Count(input.texts[i], part))
            << input.texts[i] << "\n"
            << translations[i];
      }
    }
    EXPECT_EQ(lost, 0u);
  }
}

TEST_F(MarkupGoldenTest, MoneyStaysInItsCurrency) {
  MILLRACE_NEEDS(Load("en", "pt"), "run `make models`");
  const std::string got = Translate("It costs £20 or ¥500, not €30.", models::TextFormat::kText);
  EXPECT_EQ(got, "Custa £20 ou ¥500, não €30.");
  MILLRACE_NEEDS(Load("pt", "en"), "run `make models`");
  EXPECT_EQ(Translate("Custa US$ 10 ou R$ 55.", models::TextFormat::kText),
            "It costs $10 or R$ 55.");
}

TEST_F(MarkupGoldenTest, TagsFollowTheirWords) {
  MILLRACE_NEEDS(Load("en", "pt"), "run `make models`");
  const std::vector<std::pair<const char*, const char*>> pairs = {
      {"<ul><li>Fresh <em>bread</em></li><li>Cold <b>water</b> and milk</li></ul>",
       "<ul><li><em>Pão</em> fresco</li><li><b>Água</b> fria e leite</li></ul>"},
      {"The <span class=\"c\">red <b>car</b></span> belongs to my <i>brother</i>.",
       "O <span class=\"c\"><b>carro</b> vermelho</span> pertence ao meu <i>irmão</i>."},
      {"<b>Please close the door.</b> Then <u>turn off</u> the light.",
       "<b>Por favor, feche a porta.</b> Em seguida, <u>desligue</u> a luz."},
      {"Click <code>a &lt; b</code> &amp; wait for the <b>green</b> light.",
       "Clique em <code>a &lt; b</code> e aguarde a luz <b>verde</b>."},
      {"Water is H<sub>2</sub>O, he said.<br>We met in <time>2019</time>.",
       "A água é H<sub>2</sub>O, disse ele.<br>Nós nos conhecemos em <time>2019</time>."},
      {"My <b>younger sister</b> works in a <i>small hospital</i> near the <u>river</u>.",
       "Minha <b>irmã mais nova</b> trabalha em um <i>pequeno hospital</i> perto do <u>rio</u>."},
      {"<a href=\"/\">Home</a> | <a href=\"/news\">Latest news</a> | <a href=\"/x\">Contact us</a>",
       "<a href=\"/\">Home</a> | <a href=\"/news\">As últimas notícias</a> | "
       "<a href=\"/x\">Contacte-nos</a>"}};
  // Computers may differ in a word now and then.
  size_t same = 0;
  for (const auto& [text, expected] : pairs) {
    const std::string got = Translate(text, models::TextFormat::kHtml);
    same += got == expected;
    if (got != expected) std::cout << text << "\n  " << expected << "\n  " << got << "\n";
  }
  EXPECT_GE(same + 1, pairs.size());
}

TEST_F(MarkupGoldenTest, MarkdownStaysMarkdown) {
  MILLRACE_NEEDS(Load("en", "pt"), "run `make models`");
  const std::string got = Translate(
      "# The new library\n\nRead the **first chapter** in [our guide](https://a.b/c \"t\").\n\n"
      "- Run `make`\n- Open the door\n\n```\nDo not touch.\n```\n",
      models::TextFormat::kMarkdown);
  EXPECT_EQ(got,
            "# A nova biblioteca\n\nLeia o **primeiro capítulo** do [nosso guia](https://a.b/c "
            "\"t\").\n\n- Executar `make`\n- Abra a porta\n\n```\nDo not touch.\n```\n");
}

TEST_F(MarkupGoldenTest, SentencesInCapitalsAreTranslatedIntoCapitals) {
  MILLRACE_NEEDS(Load("en", "pt"), "run `make models`");
  const std::vector<std::pair<const char*, const char*>> pairs = {
      {"STOP", "PARAR"},
      {"EXIT", "SAÍDA"},
      {"THE WHITE HOUSE IS BIG.", "A CASA BRANCA É GRANDE."},
      {"WARNING: HOT SURFACE", "AVISO: SUPERFÍCIE QUENTE"},
      {"PLEASE CALL {name}.", "POR FAVOR LIGUE PARA {name}."},
      {"NASA", "NASA"},
      {"IBM", "IBM"},
      {"Stop", "Parar"}};
  // Computers may differ in a word now and then.
  size_t same = 0;
  for (const auto& [text, expected] : pairs) {
    const std::string got = Translate(text, models::TextFormat::kText);
    same += got == expected;
    if (got != expected) std::cout << text << "\n  " << expected << "\n  " << got << "\n";
  }
  EXPECT_GE(same + 1, pairs.size());
}

TEST_F(MarkupGoldenTest, TermsAreTranslatedAsTheGlossarySays) {
  MILLRACE_NEEDS(Load("en", "pt"), "run `make models`");
  models::TranslateInput input;
  input.texts = {"The cat sat on the mat. Cats love Black Forest ham, said Black Forest."};
  input.glossary = {{"cat", "bichano"}, {"ham", "fiambre"}};
  input.do_not_translate = {"Black Forest"};
  const std::string got = Translate(input).front();
  EXPECT_EQ(Count(got, "bichano"), 1u) << got;
  EXPECT_EQ(Count(got, "fiambre"), 1u) << got;
  EXPECT_EQ(Count(got, "Black Forest"), 2u) << got;
}

}  // namespace
}  // namespace millrace::bergamot
