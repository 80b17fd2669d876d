// Texts of a word or a few, among the languages that can be meant.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "models/text/language_detector.h"
#include "tests/unit/models/text/language_detector_fixture.h"

namespace millrace::models {
namespace {

TEST_F(LanguageDetectorTest, AListOfNounsIsInNoOtherLanguage) {
  EXPECT_EQ(NotTakenFor("en", {"marsh mast nettle newsletter nozzle nugget oath outage outbox "
                               "overdraft paddock padlock patchwork payroll pitchfork plaster "
                               "pliers plow pouch prune"}),
            std::vector<std::string>{});
  EXPECT_EQ(NotTakenFor("en", {"Dette er en lang norsk setning som handler om mange ting, blant "
                               "annet maten, og den er lenger enn hundre tegn til sammen i alt."})
                .size(),
            1u);
}

TEST_F(LanguageDetectorTest, ShortTextsAreToldAmongTheLanguagesThatCanBeMeant) {
  std::vector<std::string> wrong = NotTakenFor("en", {"Hello",
                                                      "Cancel",
                                                      "Save",
                                                      "Settings",
                                                      "Table",
                                                      "House",
                                                      "Red",
                                                      "Green",
                                                      "Loading...",
                                                      "Language",
                                                      "Open file",
                                                      "Close",
                                                      "Yes",
                                                      "No",
                                                      "Thank you",
                                                      "Good morning",
                                                      "The house is red.",
                                                      "I am tired.",
                                                      "Where is the station?",
                                                      "cat",
                                                      "hi",
                                                      "Delete account",
                                                      "Log out",
                                                      "Sign in",
                                                      "Password",
                                                      "Search",
                                                      "Print",
                                                      "Undo",
                                                      "Share",
                                                      "Help",
                                                      "About",
                                                      "The cat sleeps.",
                                                      "It rains today.",
                                                      "See you tomorrow!",
                                                      "Monday",
                                                      "March",
                                                      "water",
                                                      "bread and butter",
                                                      "Please wait",
                                                      "Try again",
                                                      "Not found",
                                                      "Next page",
                                                      "New message",
                                                      "My friends",
                                                      "He sings well.",
                                                      "I love you.",
                                                      "Total price",
                                                      "Menu",
                                                      "Animal",
                                                      "Radio",
                                                      "Download",
                                                      "Upload",
                                                      "Reset",
                                                      "Remove",
                                                      "Add item",
                                                      "Edit profile",
                                                      "Friend",
                                                      "Dog",
                                                      "Milk",
                                                      "Chair",
                                                      "Window",
                                                      "Left",
                                                      "Right",
                                                      "Warning",
                                                      "Error",
                                                      "Failed",
                                                      "Submit",
                                                      "Retry",
                                                      "Checkout",
                                                      "Cart",
                                                      "Order",
                                                      "Name",
                                                      "Address",
                                                      "City",
                                                      "Country",
                                                      "Good night",
                                                      "How are you?",
                                                      "What time is it?",
                                                      "My name is John.",
                                                      "She works here.",
                                                      "Go home",
                                                      "Dark mode",
                                                      "Notifications",
                                                      "Privacy policy",
                                                      "Sign up",
                                                      "Terms of use",
                                                      "Bye",
                                                      "slow",
                                                      "tomorrow",
                                                      "Book"});
  for (std::string& text : NotTakenFor("pt", {"Ol\u00E1",
                                              "Cancelar",
                                              "Salvar",
                                              "Configura\u00E7\u00F5es",
                                              "Mesa",
                                              "Casa",
                                              "Vermelho",
                                              "Verde",
                                              "Carregando...",
                                              "Idioma",
                                              "Abrir arquivo",
                                              "Fechar",
                                              "Sim",
                                              "N\u00E3o",
                                              "Obrigado",
                                              "Bom dia",
                                              "A casa \u00E9 vermelha.",
                                              "Estou cansado.",
                                              "Onde fica a esta\u00E7\u00E3o?",
                                              "gato",
                                              "oi",
                                              "Excluir conta",
                                              "Sair",
                                              "Entrar",
                                              "Senha",
                                              "Pesquisar",
                                              "Imprimir",
                                              "Desfazer",
                                              "Compartilhar",
                                              "Ajuda",
                                              "Sobre",
                                              "O gato dorme.",
                                              "Hoje chove.",
                                              "At\u00E9 amanh\u00E3!",
                                              "Segunda-feira",
                                              "Mar\u00E7o",
                                              "\u00E1gua",
                                              "p\u00E3o com manteiga",
                                              "Aguarde",
                                              "Tente novamente",
                                              "N\u00E3o encontrado",
                                              "Pr\u00F3xima p\u00E1gina",
                                              "Nova mensagem",
                                              "Meus amigos",
                                              "Ele canta bem.",
                                              "Eu te amo.",
                                              "Pre\u00E7o total",
                                              "Amarelo",
                                              "Amigo",
                                              "R\u00E1dio",
                                              "Baixar",
                                              "Enviar",
                                              "Redefinir",
                                              "Remover",
                                              "Adicionar item",
                                              "Editar perfil",
                                              "Amanh\u00E3",
                                              "Cachorro",
                                              "Leite",
                                              "Cadeira",
                                              "Janela",
                                              "Esquerda",
                                              "Direita",
                                              "Aviso",
                                              "Erro",
                                              "Falhou",
                                              "Confirmar",
                                              "Repetir",
                                              "Finalizar compra",
                                              "Carrinho",
                                              "Pedido",
                                              "Nome",
                                              "Endere\u00E7o",
                                              "Cidade",
                                              "Pa\u00EDs",
                                              "Boa noite",
                                              "Como vai?",
                                              "Que horas s\u00E3o?",
                                              "Meu nome \u00E9 Jo\u00E3o.",
                                              "Ela trabalha aqui.",
                                              "V\u00E1 para casa",
                                              "Modo escuro",
                                              "Notifica\u00E7\u00F5es",
                                              "Pol\u00EDtica de privacidade",
                                              "Cadastre-se",
                                              "Termos de uso",
                                              "Tchau",
                                              "carro",
                                              "Dia",
                                              "Livro"}))
    wrong.push_back(std::move(text));
  EXPECT_LE(wrong.size(), 3u) << ::testing::PrintToString(wrong);
}

TEST_F(LanguageDetectorTest, NamesOfThingsAloneAreToldAmongTheLanguagesThatCanBeMeant) {
  const auto words = [](const std::string& text) -> std::vector<std::string> {
    return absl::StrSplit(text, ' ');
  };
  std::vector<std::string> wrong = NotTakenFor(
      "en", words("pencil spoon blanket umbrella bottle plate curtain roof wheel lawyer queen king "
                  "nephew cousin rabbit spider butterfly basket canvas cave crab crane kettle "
                  "lizard microscope quilt calendar compass giraffe parrot cradle mittens napkins "
                  "shoes trees knives gloves windows carrots onions hammers nails ships clouds"));
  for (std::string& word : NotTakenFor(
           "pt", words("colher garfo cobertor tigela cortina flor roda tio tia primo borboleta "
                       "agricultor mochila lona diamante capacete joia pilar cachecol abacate "
                       "jabuticaba berinjela rabanete salsicha oficina tapete sapatos \u00E1rvores "
                       "facas luvas janelas cenouras cebolas martelos pregos navios nuvens meias "
                       "irm\u00E3o len\u00E7ol fog\u00E3o c\u00E3o p\u00E9 m\u00E3o"))) {
    wrong.push_back(std::move(word));
  }
  EXPECT_LE(wrong.size(), 1u) << ::testing::PrintToString(wrong);
}

// Words that no list of the detector has, from a source of which it knows nothing.
TEST_F(LanguageDetectorTest, UnknownWordsAloneAreToldByTheirLetters) {
  for (const std::string language : {"en", "pt"}) {
    std::ifstream file(std::string(MILLRACE_TEST_DATA "/single_words.") + language + ".txt");
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word);) words.push_back(word);
    ASSERT_EQ(words.size(), 200U);
    const std::vector<std::string> wrong = NotTakenFor(language, words);
    EXPECT_LE(wrong.size(), 10U) << ::testing::PrintToString(wrong);
  }
}

TEST_F(LanguageDetectorTest, ShortTextsOfManyLanguagesAreTold) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"pt", "Quanto custa?"},
      {"pt", "Quero pizza"},
      {"pt", "Saiba mais"},
      {"pt", "Fale conosco"},
      {"pt", "ate logo"},
      {"en", "invoice"},
      {"de", "Guten Morgen"},
      {"nl", "Hoe gaat het met je?"},
      {"nl", "Goedemorgen"},
      {"de", "Vielen Dank"},
      {"it", "Grazie mille"},
      {"it", "La casa \u00E8 rossa"},
      {"ru", "\u0414\u043E\u0431\u0440\u043E\u0435 \u0443\u0442\u0440\u043E"},
      {"ru",
       "\u0421\u043F\u0430\u0441\u0438\u0431\u043E \u0431\u043E\u043B\u044C\u0448\u043E\u0435"},
      {"ru",
       "\u0413\u0434\u0435 \u043D\u0430\u0445\u043E\u0434\u0438\u0442\u0441\u044F "
       "\u0432\u043E\u043A\u0437\u0430\u043B?"},
      {"fr", "Bonjour, o\u00F9 est la gare?"},
      {"es", "La casa es roja."},
      {"es", "Buenos d\u00EDas"},
      {"es", "Gracias"},
      {"fr", "Merci beaucoup"},
      {"fr", "Je suis fatigu\u00E9"},
      {"de", "Ich bin m\u00FCde"},
      {"de", "Das Haus ist rot."},
      {"pl", "Dzi\u0119kuj\u0119"},
      {"pl", "Dzie\u0144 dobry"},
      {"pl", "Gdzie jest dworzec?"},
      {"sv", "God morgon"},
      {"sv", "Tack s\u00E5 mycket"},
      {"sv", "Var ligger stationen?"},
      {"sv", "Huset \u00E4r r\u00F6tt."},
      {"it", "Dove si trova la stazione?"},
      {"it", "Buongiorno"},
      {"it", "Il gatto dorme."},
      {"es", "\u00BFD\u00F3nde est\u00E1 la estaci\u00F3n?"},
      {"es", "El gato duerme en la mesa."},
      {"nl", "Waar is het station?"},
      {"nl", "Het huis is rood."},
      {"nl", "Dank je wel"},
      {"fr", "Le chat dort."},
      {"fr", "La maison est rouge."},
      {"ja", "\u304A\u306F\u3088\u3046\u3054\u3056\u3044\u307E\u3059"},
      {"zh", "\u4F60\u597D"},
      {"tr", "G\u00FCnayd\u0131n"},
      {"tr", "Te\u015Fekk\u00FCr ederim"},
      {"fi", "Kiitos paljon"},
      {"cs", "D\u011Bkuji"}};
  std::vector<std::string> wrong;
  for (const auto& [language, text] : texts) {
    if (!Best(text).language.starts_with(language)) wrong.push_back(text);
  }
  EXPECT_LE(wrong.size(), 2u) << ::testing::PrintToString(wrong);
}

TEST_F(LanguageDetectorTest, NamesOfTheOtherLanguageAreNoEvidence) {
  EXPECT_EQ(NotTakenFor(
                "pt", {"A Maria foi a New York.", "O John comprou um iPhone.", "Boa noite, Peter"}),
            std::vector<std::string>{});
  EXPECT_EQ(NotTakenFor("en", {"Maria went to S\u00E3o Paulo.", "Where is Rua Augusta, 500?",
                               "Good night, Pedro", "Hello, Jo\u00E3o!"}),
            std::vector<std::string>{});
}

TEST_F(LanguageDetectorTest, WordsOfMenusAreTold) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"sv", "Logga in"},  {"sv", "Ta bort konto"}, {"sv", "Stäng fönstret"}, {"sv", "Ladda ner"},
      {"it", "Ho fame."},  {"ru", "Как дела?"},     {"ru", "Настройки"},      {"zh-Hant", "登入"},
      {"zh-Hant", "語言"}, {"zh", "保存更改"},      {"ja", "言語の設定"}};
  for (const auto& [language, text] : texts) EXPECT_EQ(Best(text).language, language) << text;
}

}  // namespace
}  // namespace millrace::models
