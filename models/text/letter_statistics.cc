#include "models/text/letter_statistics.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kLanguages = kLetterProfiles.size();
constexpr size_t kLongest = 3;  // letters of a sequence
// The score of a sequence that a profile lacks, by its length.
constexpr std::array<float, kLongest> kUnknown = {-10.8F, -11.5F, -11.5F};
constexpr float kLevelsPerNat = 4;
// Texts of any language have some letters of others, which are rarer.
constexpr float kUsedLetter = -8;
// A common word adds this to the score of its letters.
constexpr float kCommonWord = 16;

// Words of greetings and of user interfaces, which stand alone and of which letters say too little.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kCommonWords = {{
    {"en",
     " address allow apply archive attach block camera cancel change click close code color "
     "confirm "
     "connect contact content continue copy create cut date default details device disable "
     "disconnect download email enable enter event export favorite field filter find finish folder "
     "forward friend group hide history image import insert install invite item keyboard label "
     "language last later layout library link list load location lock manage map mark message "
     "mobile mode model move music mute network note number option page panel password paste pause "
     "phone photo picture preview private profile project public quit rate refresh remove rename "
     "replace reply report request restart restore retry review role rule run scan schedule screen "
     "section security select server sound source space speed status store style switch sync "
     "system "
     "tag task test text theme title top total type unknown update upload user value version video "
     "volume wait warning web week width window word write zoom desktop notification settings "
     " about add all and are back book buy bye cart cat close day delete dog done edit error exit "
     "file from go good hello help hi home i in is left like log menu milk more my name new next "
     "night no not of off ok on open order out play print radio read red reset right save search "
     "send set share show sign slow start stop submit table the time to today undo up view water "
     "we week what where yes you your "},
    {"pt",
     " aceitar adicionar alterar amigo anterior apagar aplicar arquivo ativar atualizar barra "
     "bloquear cadeira carregar categoria celular clique colar comprar compartilhar conectar conta "
     "continuar convidar copiar cor criar curtir dados data desativar descartar desfazer editar "
     "embora endere\u00E7o ent\u00E3o enviar escolher escrever esquerda direita exibir exportar "
     "favorito "
     "filtrar finalizar fonte foto grupo hora imagem importar inserir instalar jogo lista legenda "
     "legendas limpar linha lugar marcar mensagem modo mostrar mudar n\u00FAmero ocultar "
     "op\u00E7\u00F5es "
     "ordenar pagar parar pasta perfil permitir pessoa pr\u00F3ximo pular recarregar recortar "
     "recusar rede renomear responder restaurar revisar rua selecionar senha sincronizar tamanho "
     "tela tempo tentar testar texto tipo trocar usu\u00E1rio valor vazio velho vermelho "
     "v\u00EDdeo "
     "volume a abrir ajuda adeus amanh\u00E3 aqui aviso baixar boa bom buscar cachorro carro casa "
     "com "
     "confirmar da de dia do e editar ele ela em entrar enviar erro est\u00E1 excluir fechar gato "
     "hoje idioma imprimir ir leite livro mais mesa meu minha n\u00E3o noite nome novo o oi "
     "ol\u00E1 "
     "os para pa\u00EDs pesquisar por r\u00E1dio redefinir remover repetir sair salvar se sem sim "
     "sobre tchau tudo um uma verde ver voltar voc\u00EA "},
    {"es",
     " a\u00F1adir abrir adi\u00F3s ayuda buenas buenos buscar cancelar casa cerrar con de "
     "d\u00EDa "
     "d\u00EDas el en es est\u00E1 gracias gato guardar hola hoy la las los ma\u00F1ana m\u00E1s "
     "mi "
     "no noche noches nuevo para por que salir s\u00ED sobre tu un una y "},
    {"fr",
     " annuler au aujourd avec bonjour bonsoir chat chercher de demain des du enregistrer est et "
     "fermer il j je la le les maison merci mon non nous nouveau oui ouvrir pas plus pour salut "
     "sur un une vous "},
    {"de",
     " abbrechen aber auf bitte danke das der die ein eine guten gute hallo haus hilfe ich in ist "
     "ja katze morgen nacht nein neu nicht speichern suchen tag und von wie wir zu "},
    {"it",
     " aiuto annulla apri buona buongiorno cerca che chiudi ciao con di e gatto grazie il la le "
     "mio no non notte nuovo per prego rosso s\u00EC salva sono un una "},
    {"nl",
     " annuleren dag dank de een en goede goedemorgen hallo het hoe huis ik is ja je kat met nee "
     "niet nieuw openen opslaan sluiten van wat zoeken "},
}};

using Scores = std::array<float, kLanguages>;

class Statistics {
 public:
  Statistics() {
    for (size_t i = 0; i < kLanguages; ++i) AddProfile(i, kLetterProfiles[i].sequences);
    for (const auto& [language, words] : kCommonWords) {
      const auto* const profile =
          std::ranges::find(kLetterProfiles, language, &LetterProfile::language);
      ForEachWord(words, [&](std::string_view word) {
        common_[std::string(word)][static_cast<size_t>(profile - kLetterProfiles.data())] +=
            kCommonWord;
      });
    }
  }

  const Scores* Find(const std::string& sequence) const {
    const auto found = sequences_.find(sequence);
    return found == sequences_.end() ? nullptr : &found->second;
  }
  const Scores* FindWord(const std::string& word) const {
    const auto found = common_.find(word);
    return found == common_.end() ? nullptr : &found->second;
  }

 private:
  template <typename Take>
  static void ForEachWord(std::string_view text, const Take& take) {
    while (!text.empty()) {
      const size_t end = std::min(text.find(' '), text.size());
      if (end > 0) take(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  void AddProfile(size_t language, std::string_view sequences) {
    float score = 0;
    ForEachWord(sequences, [&](std::string_view word) {
      int level = 0;
      const char* const end = word.data() + word.size();
      if (std::from_chars(word.data(), end, level).ptr == end) {
        score = static_cast<float>(-level) / kLevelsPerNat;
        return;
      }
      const auto [entry, is_new] = sequences_.try_emplace(std::string(word));
      if (is_new) entry->second.fill(kUnknown.at(CountCodePoints(word) - 1));
      entry->second[language] = score;
    });
  }

  std::unordered_map<std::string, Scores> sequences_;
  std::unordered_map<std::string, Scores> common_;
};

void Add(const Scores& scores, LetterEvidence& evidence) {
  for (size_t i = 0; i < kLanguages; ++i) evidence.scores[i] += scores[i];
}

// Adds what a word, given as its letters between two '_', says.
void AddWord(const std::vector<std::string>& letters, const Statistics& statistics,
             LetterEvidence& evidence) {
  for (size_t length = 1; length <= kLongest; ++length) {
    for (size_t begin = 0; begin + length <= letters.size(); ++begin) {
      if (length == 1 && letters[begin] == "_") continue;
      std::string sequence;
      for (size_t i = begin; i < begin + length; ++i) sequence += letters[i];
      if (const Scores* scores = statistics.Find(sequence)) {
        Add(*scores, evidence);
        if (length == 1 && std::ranges::max(*scores) > kUsedLetter) ++evidence.known_letters;
      }
    }
  }
  std::string word;
  for (size_t i = 1; i + 1 < letters.size(); ++i) word += letters[i];
  if (const Scores* scores = statistics.FindWord(word)) Add(*scores, evidence);
  evidence.letters += letters.size() - 2;
  ++evidence.words;
}

}  // namespace

LetterEvidence ReadLetters(std::string_view text) {
  static const Statistics& statistics = *new Statistics();  // never destroyed: threads may use it
  LetterEvidence evidence;
  std::vector<std::string> letters = {"_"};
  for (size_t at = 0; at <= text.size();) {
    const CodePoint c = DecodeAt(text, at);
    if (c.bytes > 0 && IsLetter(c.value)) {
      letters.push_back(EncodeUtf8(ToLower(c.value)));
    } else if (letters.size() > 1) {
      letters.emplace_back("_");
      AddWord(letters, statistics, evidence);
      letters.assign(1, "_");
    }
    at += std::max<size_t>(c.bytes, 1);
  }
  return evidence;
}

}  // namespace millrace::models
