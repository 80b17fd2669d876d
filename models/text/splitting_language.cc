#include "models/text/splitting_language.h"

#include <algorithm>
#include <array>
#include <string>

#include "models/text/ascii.h"

namespace millrace::models {
namespace {

using Entry = SplittingLanguage::Entry;
using enum Abbreviation;

constexpr std::array<Entry, 31> kCsAbbreviations = {
    Entry{"aj", kUnlessStarter},  Entry{"apod", kUnlessStarter}, Entry{"atd", kUnlessStarter},
    Entry{"bc", kAlways},         Entry{"doc", kAlways},         Entry{"dr", kAlways},
    Entry{"gen", kAlways},        Entry{"ing", kAlways},         Entry{"judr", kAlways},
    Entry{"kpt", kAlways},        Entry{"mgr", kAlways},         Entry{"mudr", kAlways},
    Entry{"např", kAlways},       Entry{"nám", kAlways},         Entry{"obr", kBeforeNumber},
    Entry{"odst", kBeforeNumber}, Entry{"popř", kAlways},        Entry{"prof", kAlways},
    Entry{"resp", kAlways},       Entry{"s", kBeforeNumber},     Entry{"str", kBeforeNumber},
    Entry{"sv", kAlways},         Entry{"tab", kBeforeNumber},   Entry{"tel", kBeforeNumber},
    Entry{"tj", kAlways},         Entry{"tzn", kAlways},         Entry{"tzv", kAlways},
    Entry{"tř", kAlways},         Entry{"ul", kAlways},          Entry{"č", kBeforeNumber},
    Entry{"čl", kBeforeNumber}};

constexpr std::array<std::string_view, 40> kCsStarters = {
    "A",   "Ale",  "Ani", "Bez",  "By",   "Byl", "Byla", "Co",  "Do",   "I",
    "Ja",  "Jak",  "Je",  "Jsou", "Já",   "Kde", "Kdo",  "Kdy", "Když", "Na",
    "Ne",  "Od",   "On",  "Ona",  "Oni",  "Po",  "Pro",  "S",   "Se",   "Tak",
    "Tam", "Tato", "Ten", "To",   "Toto", "V",   "Ve",   "Z",   "Za",   "Že"};

// These are the abbreviations of Danish, which Norwegian uses too.
constexpr std::array<Entry, 27> kDaAbbreviations = {
    Entry{"bl.a", kAlways},      Entry{"ca", kAlways},         Entry{"dr", kAlways},
    Entry{"dvs", kAlways},       Entry{"ekskl", kAlways},      Entry{"etc", kUnlessStarter},
    Entry{"evt", kAlways},       Entry{"f.eks", kAlways},      Entry{"fig", kBeforeNumber},
    Entry{"fr", kAlways},        Entry{"hr", kAlways},         Entry{"iflg", kAlways},
    Entry{"inkl", kAlways},      Entry{"jf", kAlways},         Entry{"kap", kBeforeNumber},
    Entry{"kl", kBeforeNumber},  Entry{"m.m", kUnlessStarter}, Entry{"m.v", kUnlessStarter},
    Entry{"mv", kUnlessStarter}, Entry{"nr", kBeforeNumber},   Entry{"osv", kUnlessStarter},
    Entry{"pga", kAlways},       Entry{"prof", kAlways},       Entry{"s", kBeforeNumber},
    Entry{"s.k", kAlways},       Entry{"side", kBeforeNumber}, Entry{"tlf", kBeforeNumber}};

constexpr std::array<std::string_view, 27> kDaStarters = {
    "At", "De",  "Den", "Der", "Det", "Du",  "En", "Et", "For", "Han", "Her", "Hun", "Hvad", "Hvor",
    "I",  "Jeg", "Man", "Med", "Men", "Når", "Og", "Om", "På",  "Som", "Så",  "Til", "Vi"};

constexpr std::array<Entry, 66> kDeAbbreviations = {
    Entry{"abb", kBeforeNumber},    Entry{"abs", kBeforeNumber}, Entry{"abzgl", kAlways},
    Entry{"anm", kBeforeNumber},    Entry{"art", kBeforeNumber}, Entry{"bd", kAlways},
    Entry{"bzw", kAlways},          Entry{"ca", kAlways},        Entry{"d.h", kAlways},
    Entry{"ders", kAlways},         Entry{"dgl", kAlways},       Entry{"dies", kAlways},
    Entry{"dipl", kAlways},         Entry{"dr", kAlways},        Entry{"etc", kUnlessStarter},
    Entry{"ev", kAlways},           Entry{"evtl", kAlways},      Entry{"exkl", kAlways},
    Entry{"fr", kAlways},           Entry{"frl", kAlways},       Entry{"geb", kAlways},
    Entry{"gegr", kAlways},         Entry{"gest", kAlways},      Entry{"ggf", kAlways},
    Entry{"hr", kAlways},           Entry{"hrsg", kAlways},      Entry{"i.d.r", kAlways},
    Entry{"ing", kAlways},          Entry{"inkl", kAlways},      Entry{"jh", kBeforeNumber},
    Entry{"jur", kAlways},          Entry{"kap", kBeforeNumber}, Entry{"kath", kAlways},
    Entry{"max", kAlways},          Entry{"med", kAlways},       Entry{"min", kAlways},
    Entry{"mind", kAlways},         Entry{"mio", kBeforeNumber}, Entry{"mrd", kBeforeNumber},
    Entry{"nat", kAlways},          Entry{"nr", kAlways},        Entry{"o.ä", kAlways},
    Entry{"phil", kAlways},         Entry{"prof", kAlways},      Entry{"rer", kAlways},
    Entry{"röm", kAlways},          Entry{"s", kBeforeNumber},   Entry{"s.o", kAlways},
    Entry{"s.u", kAlways},          Entry{"sog", kAlways},       Entry{"st", kAlways},
    Entry{"str", kAlways},          Entry{"tel", kBeforeNumber}, Entry{"u.a", kAlways},
    Entry{"u.s.w", kUnlessStarter}, Entry{"u.u", kAlways},       Entry{"u.ä", kUnlessStarter},
    Entry{"usw", kUnlessStarter},   Entry{"v.a", kAlways},       Entry{"verf", kAlways},
    Entry{"vgl", kAlways},          Entry{"vors", kAlways},      Entry{"z", kAlways},
    Entry{"z.b", kAlways},          Entry{"z.t", kAlways},       Entry{"zzgl", kAlways}};

constexpr std::array<std::string_view, 55> kDeStarters = {
    "Aber", "Als",   "Am",   "Auch",  "Auf",  "Bei",  "Da",    "Damit",  "Dann",   "Das",  "Dem",
    "Den",  "Denn",  "Der",  "Des",   "Die",  "Dies", "Diese", "Dieser", "Dieses", "Doch", "Dort",
    "Du",   "Ein",   "Eine", "Einer", "Er",   "Es",   "Für",   "Hier",   "Ich",    "Ihr",  "Im",
    "In",   "Jetzt", "Man",  "Mit",   "Nach", "Nun",  "Ob",    "Sein",   "Seine",  "Sie",  "So",
    "Und",  "Von",   "Was",  "Wenn",  "Wer",  "Wie",  "Wir",   "Wo",     "Zu",     "Zum",  "Zur"};

constexpr std::array<Entry, 20> kElAbbreviations = {
    Entry{"αγ", kAlways},         Entry{"αρ", kBeforeNumber},   Entry{"βλ", kAlways},
    Entry{"δηλ", kAlways},        Entry{"δρ", kAlways},         Entry{"εικ", kBeforeNumber},
    Entry{"κ", kAlways},          Entry{"κ.ά", kUnlessStarter}, Entry{"κ.λπ", kUnlessStarter},
    Entry{"κα", kAlways},         Entry{"καθ", kAlways},        Entry{"κκ", kAlways},
    Entry{"κλπ", kUnlessStarter}, Entry{"κτλ", kUnlessStarter}, Entry{"λεωφ", kAlways},
    Entry{"π.χ", kAlways},        Entry{"πρβλ", kAlways},       Entry{"σ", kBeforeNumber},
    Entry{"σελ", kBeforeNumber},  Entry{"τηλ", kBeforeNumber}};

constexpr std::array<std::string_view, 30> kElStarters = {
    "Όταν", "Αλλά", "Αν",  "Από", "Αυτή", "Αυτό", "Αυτός", "Για", "Δεν", "Είναι",
    "Εγώ",  "Η",    "Και", "Με",  "Να",   "Ο",    "Οι",    "Πού", "Στη", "Στο",
    "Τα",   "Τη",   "Την", "Της", "Τι",   "Το",   "Τον",   "Του", "Των", "Ως"};

constexpr std::array<Entry, 17> kFiAbbreviations = {
    Entry{"dr", kAlways},         Entry{"ent", kAlways},       Entry{"esim", kAlways},
    Entry{"jne", kUnlessStarter}, Entry{"klo", kBeforeNumber}, Entry{"ks", kAlways},
    Entry{"mm", kAlways},         Entry{"nro", kBeforeNumber}, Entry{"ns", kAlways},
    Entry{"os", kAlways},         Entry{"prof", kAlways},      Entry{"puh", kAlways},
    Entry{"s", kBeforeNumber},    Entry{"ts", kAlways},        Entry{"vrt", kAlways},
    Entry{"ym", kAlways},         Entry{"yms", kUnlessStarter}};

constexpr std::array<std::string_view, 21> kFiStarters = {
    "He",   "Hän", "Ja", "Jos", "Kun", "Me",     "Minä",   "Mitä", "Mutta", "Myös", "Ne",
    "Niin", "Nyt", "On", "Se",  "Sen", "Siellä", "Sitten", "Te",   "Tuo",   "Tämä"};

constexpr std::array<Entry, 16> kHuAbbreviations = {
    Entry{"dr", kAlways},        Entry{"id", kAlways},         Entry{"ifj", kAlways},
    Entry{"ill", kAlways},       Entry{"kb", kAlways},         Entry{"o", kBeforeNumber},
    Entry{"old", kBeforeNumber}, Entry{"pl", kAlways},         Entry{"prof", kAlways},
    Entry{"st", kUnlessStarter}, Entry{"stb", kUnlessStarter}, Entry{"sz", kBeforeNumber},
    Entry{"tel", kBeforeNumber}, Entry{"ti", kAlways},         Entry{"özv", kAlways},
    Entry{"ún", kAlways}};

constexpr std::array<std::string_view, 25> kHuStarters = {
    "A",  "Az",   "Azt", "Azért", "Csak", "De",  "Egy", "Ez", "Ezt", "Ha", "Hogy", "Is", "Itt",
    "Ki", "Mert", "Mi",  "Mikor", "Most", "Nem", "Ott", "Te", "Én",  "És", "Ő",    "Ők"};

constexpr std::array<std::string_view, 27> kNbStarters = {
    "At", "De",  "Den", "Der", "Det", "Du",  "En", "Et", "For", "Han", "Her", "Hun", "Hva", "Hvor",
    "I",  "Jeg", "Man", "Med", "Men", "Når", "Og", "Om", "På",  "Som", "Så",  "Til", "Vi"};

constexpr std::array<Entry, 35> kNlAbbreviations = {
    Entry{"a.u.b", kUnlessStarter}, Entry{"afb", kBeforeNumber},  Entry{"art", kBeforeNumber},
    Entry{"bijv", kAlways},         Entry{"blz", kBeforeNumber},  Entry{"bv", kAlways},
    Entry{"ca", kAlways},           Entry{"d.w.z", kAlways},      Entry{"dhr", kAlways},
    Entry{"dr", kAlways},           Entry{"drs", kAlways},        Entry{"ds", kAlways},
    Entry{"e.d", kUnlessStarter},   Entry{"enz", kUnlessStarter}, Entry{"etc", kUnlessStarter},
    Entry{"excl", kAlways},         Entry{"hfst", kBeforeNumber}, Entry{"i.p.v", kAlways},
    Entry{"incl", kAlways},         Entry{"ing", kAlways},        Entry{"ir", kAlways},
    Entry{"jhr", kAlways},          Entry{"m.a.w", kAlways},      Entry{"mevr", kAlways},
    Entry{"mr", kAlways},           Entry{"mw", kAlways},         Entry{"nr", kBeforeNumber},
    Entry{"o.a", kAlways},          Entry{"prof", kAlways},       Entry{"resp", kAlways},
    Entry{"st", kAlways},           Entry{"t.a.v", kAlways},      Entry{"t/m", kAlways},
    Entry{"vgl", kAlways},          Entry{"z.o.z", kAlways}};

constexpr std::array<std::string_view, 36> kNlStarters = {
    "Aan",  "Als", "Dan", "Dat",  "De",   "Deze", "Die",  "Dit", "Een", "En", "Er",  "Haar",
    "Het",  "Hij", "Hoe", "Ik",   "In",   "Je",   "Maar", "Met", "Na",  "Nu", "Om",  "Op",
    "Toen", "U",   "Van", "Voor", "Waar", "Wat",  "We",   "Wie", "Wij", "Ze", "Zij", "Zijn"};

constexpr std::array<Entry, 42> kPlAbbreviations = {
    Entry{"al", kAlways},         Entry{"art", kBeforeNumber},  Entry{"dr", kAlways},
    Entry{"gen", kAlways},        Entry{"godz", kBeforeNumber}, Entry{"hab", kAlways},
    Entry{"im", kAlways},         Entry{"inż", kAlways},        Entry{"itd", kUnlessStarter},
    Entry{"itp", kUnlessStarter}, Entry{"kpt", kAlways},        Entry{"ks", kAlways},
    Entry{"lek", kAlways},        Entry{"m.in", kAlways},       Entry{"mgr", kAlways},
    Entry{"mjr", kAlways},        Entry{"np", kAlways},         Entry{"nr", kBeforeNumber},
    Entry{"ok", kAlways},         Entry{"os", kAlways},         Entry{"pl", kAlways},
    Entry{"por", kAlways},        Entry{"poz", kBeforeNumber},  Entry{"prof", kAlways},
    Entry{"płk", kAlways},        Entry{"r", kUnlessStarter},   Entry{"red", kAlways},
    Entry{"rys", kBeforeNumber},  Entry{"s", kBeforeNumber},    Entry{"str", kBeforeNumber},
    Entry{"tab", kBeforeNumber},  Entry{"tel", kBeforeNumber},  Entry{"tj", kAlways},
    Entry{"tys", kUnlessStarter}, Entry{"tzn", kAlways},        Entry{"tzw", kAlways},
    Entry{"ul", kAlways},         Entry{"ust", kBeforeNumber},  Entry{"w", kUnlessStarter},
    Entry{"wyd", kAlways},        Entry{"zob", kAlways},        Entry{"św", kAlways}};

constexpr std::array<std::string_view, 32> kPlStarters = {
    "A",    "Ale",   "Ci",  "Co", "Czy", "Do", "Gdy", "I",    "Ich", "Ja", "Jak",
    "Jest", "Kiedy", "Kto", "Na", "Nie", "On", "Ona", "One",  "Oni", "Po", "Potem",
    "Są",   "Ta",    "Tak", "Te", "Ten", "To", "W",   "Więc", "Z",   "Za"};

constexpr std::array<Entry, 49> kRuAbbreviations = {
    Entry{"акад", kAlways},       Entry{"в", kUnlessStarter},   Entry{"вв", kUnlessStarter},
    Entry{"г", kUnlessStarter},   Entry{"г-жа", kAlways},       Entry{"г-н", kAlways},
    Entry{"гг", kUnlessStarter},  Entry{"гл", kBeforeNumber},   Entry{"гос", kAlways},
    Entry{"гр", kAlways},         Entry{"д", kBeforeNumber},    Entry{"доц", kAlways},
    Entry{"др", kUnlessStarter},  Entry{"им", kAlways},         Entry{"кв", kBeforeNumber},
    Entry{"коп", kUnlessStarter}, Entry{"млн", kUnlessStarter}, Entry{"млрд", kUnlessStarter},
    Entry{"н.э", kUnlessStarter}, Entry{"напр", kAlways},       Entry{"обл", kAlways},
    Entry{"п", kBeforeNumber},    Entry{"пер", kAlways},        Entry{"пл", kAlways},
    Entry{"пп", kBeforeNumber},   Entry{"пр", kAlways},         Entry{"проф", kAlways},
    Entry{"р-н", kAlways},        Entry{"респ", kAlways},       Entry{"рис", kBeforeNumber},
    Entry{"руб", kUnlessStarter}, Entry{"с", kBeforeNumber},    Entry{"св", kAlways},
    Entry{"см", kAlways},         Entry{"ср", kAlways},         Entry{"ст", kBeforeNumber},
    Entry{"стр", kBeforeNumber},  Entry{"т", kBeforeNumber},    Entry{"т.д", kUnlessStarter},
    Entry{"т.е", kAlways},        Entry{"т.к", kAlways},        Entry{"т.н", kAlways},
    Entry{"т.п", kUnlessStarter}, Entry{"табл", kBeforeNumber}, Entry{"тел", kBeforeNumber},
    Entry{"тов", kAlways},        Entry{"тыс", kUnlessStarter}, Entry{"ул", kAlways},
    Entry{"№", kBeforeNumber}};

constexpr std::array<std::string_view, 55> kRuStarters = {
    "А",   "Без",   "Был",    "Была", "Были", "В",     "Во",  "Вот", "Все", "Где",  "Да",
    "Для", "До",    "Его",    "Если", "Есть", "Ещё",   "За",  "И",   "Из",  "Их",   "К",
    "Как", "Когда", "Кто",    "Мы",   "На",   "Не",    "Нет", "Но",  "О",   "Об",   "Он",
    "Она", "Они",   "Оно",    "От",   "По",   "Потом", "При", "С",   "Со",  "Так",  "Там",
    "То",  "Тогда", "Только", "Ты",   "У",    "Что",   "Эта", "Эти", "Это", "Этот", "Я"};

constexpr std::array<Entry, 28> kSvAbbreviations = {
    Entry{"bl.a", kAlways},       Entry{"ca", kAlways},         Entry{"d.v.s", kAlways},
    Entry{"dr", kAlways},         Entry{"etc", kUnlessStarter}, Entry{"exkl", kAlways},
    Entry{"f.d", kAlways},        Entry{"fig", kBeforeNumber},  Entry{"inkl", kAlways},
    Entry{"jfr", kAlways},        Entry{"kap", kBeforeNumber},  Entry{"kl", kBeforeNumber},
    Entry{"kungl", kAlways},      Entry{"m.fl", kAlways},       Entry{"m.m", kUnlessStarter},
    Entry{"nr", kBeforeNumber},   Entry{"o.d", kUnlessStarter}, Entry{"o.s.v", kUnlessStarter},
    Entry{"osv", kUnlessStarter}, Entry{"prof", kAlways},       Entry{"resp", kAlways},
    Entry{"s", kBeforeNumber},    Entry{"s.k", kAlways},        Entry{"sid", kBeforeNumber},
    Entry{"st", kAlways},         Entry{"t.ex", kAlways},       Entry{"tel", kBeforeNumber},
    Entry{"ung", kAlways}};

constexpr std::array<std::string_view, 27> kSvStarters = {
    "Att", "De",  "Den", "Det", "Du", "En", "Ett", "För", "Han",  "Hon", "Här", "I",   "Jag", "Man",
    "Med", "Men", "När", "Och", "Om", "På", "Som", "Så",  "Till", "Vad", "Var", "Vem", "Vi"};

constexpr std::array<Entry, 19> kTrAbbreviations = {
    Entry{"alb", kAlways},       Entry{"apt", kAlways},       Entry{"av", kAlways},
    Entry{"bkz", kAlways},       Entry{"cad", kAlways},       Entry{"doç", kAlways},
    Entry{"dr", kAlways},        Entry{"mah", kAlways},       Entry{"no", kBeforeNumber},
    Entry{"prof", kAlways},      Entry{"s", kBeforeNumber},   Entry{"sf", kBeforeNumber},
    Entry{"sok", kAlways},       Entry{"tel", kBeforeNumber}, Entry{"vb", kAlways},
    Entry{"vs", kUnlessStarter}, Entry{"yrd", kAlways},       Entry{"yy", kAlways},
    Entry{"örn", kAlways}};

constexpr std::array<std::string_view, 16> kTrStarters = {
    "Ama", "Ben",   "Bir", "Biz", "Bu",  "Bunu",  "Da", "Ne",
    "O",   "Onlar", "Onu", "Sen", "Siz", "Sonra", "Ve", "Şimdi"};

constexpr std::array<Entry, 29> kUkAbbreviations = {
    Entry{"акад", kAlways},       Entry{"вул", kAlways},         Entry{"гл", kBeforeNumber},
    Entry{"грн", kUnlessStarter}, Entry{"див", kAlways},         Entry{"доц", kAlways},
    Entry{"млн", kUnlessStarter}, Entry{"млрд", kUnlessStarter}, Entry{"напр", kAlways},
    Entry{"обл", kAlways},        Entry{"п", kBeforeNumber},     Entry{"пл", kAlways},
    Entry{"пр", kAlways},         Entry{"проф", kAlways},        Entry{"р", kUnlessStarter},
    Entry{"рис", kBeforeNumber},  Entry{"рр", kUnlessStarter},   Entry{"с", kBeforeNumber},
    Entry{"св", kAlways},         Entry{"ст", kUnlessStarter},   Entry{"стор", kBeforeNumber},
    Entry{"т.д", kUnlessStarter}, Entry{"т.е", kAlways},         Entry{"т.п", kUnlessStarter},
    Entry{"табл", kBeforeNumber}, Entry{"тис", kUnlessStarter},  Entry{"тобто", kAlways},
    Entry{"ім", kAlways},         Entry{"ін", kUnlessStarter}};

constexpr std::array<std::string_view, 38> kUkStarters = {
    "І",   "Її",  "А",  "Або",  "Але", "Без",  "Був",  "Була", "Були", "В",  "Ви", "Вона", "Вони",
    "Він", "Для", "До", "З",    "За",  "Його", "Коли", "Ми",   "На",   "Не", "Ні", "Та",   "Так",
    "Там", "Ти",  "То", "Тоді", "У",   "Це",   "Цей",  "Ця",   "Що",   "Я",  "Як", "Якщо"};

constexpr std::array kLanguages = {
    SplittingLanguage{"cs", kCsAbbreviations, kCsStarters, true, false},
    SplittingLanguage{"da", kDaAbbreviations, kDaStarters, true, false},
    SplittingLanguage{"de", kDeAbbreviations, kDeStarters, true, false},
    SplittingLanguage{"el", kElAbbreviations, kElStarters, false, true},
    SplittingLanguage{"fi", kFiAbbreviations, kFiStarters, true, false},
    SplittingLanguage{"hu", kHuAbbreviations, kHuStarters, true, false},
    SplittingLanguage{"nb", kDaAbbreviations, kNbStarters, true, false},
    SplittingLanguage{"nl", kNlAbbreviations, kNlStarters, false, false},
    SplittingLanguage{"no", kDaAbbreviations, kNbStarters, true, false},
    SplittingLanguage{"pl", kPlAbbreviations, kPlStarters, true, false},
    SplittingLanguage{"ru", kRuAbbreviations, kRuStarters, false, false},
    SplittingLanguage{"sv", kSvAbbreviations, kSvStarters, false, false},
    SplittingLanguage{"tr", kTrAbbreviations, kTrStarters, true, false},
    SplittingLanguage{"uk", kUkAbbreviations, kUkStarters, false, false},
};
constexpr SplittingLanguage kAnyLanguage;

constexpr bool Sorted(const SplittingLanguage& language) {
  return std::ranges::is_sorted(language.abbreviations, {}, &Entry::word) &&
         std::ranges::is_sorted(language.starters);
}
static_assert(std::ranges::all_of(kLanguages, Sorted));
static_assert(std::ranges::is_sorted(kLanguages, {}, &SplittingLanguage::tag));

}  // namespace

Abbreviation SplittingLanguage::Find(std::string_view word) const {
  if (abbreviations.empty()) return FindAbbreviation(word);
  const std::string lower = AsciiLower(word);
  const auto found = std::ranges::lower_bound(abbreviations, lower, {}, &Entry::word);
  if (found != abbreviations.end() && found->word == lower) return found->kind;
  return FindAbbreviation(lower);
}

bool SplittingLanguage::IsStarter(std::string_view word) const {
  return std::ranges::binary_search(starters, word) || IsSentenceStarter(word);
}

const SplittingLanguage& SplittingLanguageOf(std::string_view tag) {
  const std::string primary = AsciiLower(tag.substr(0, tag.find_first_of("-_")));
  const auto found = std::ranges::find(kLanguages, primary, &SplittingLanguage::tag);
  return found == kLanguages.end() ? kAnyLanguage : *found;
}

}  // namespace millrace::models
