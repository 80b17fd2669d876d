#include "server/documents/plural_forms.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

struct NamedRule {
  std::string_view languages;  // each between spaces
  PluralForms forms;
};

constexpr std::string_view kSlavic =
    "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2)";

constexpr NamedRule kRules[] = {
    {" id ja jv km ko lo ms my th vi yue zh ", {1, "0"}},
    {" ak am fa fr ff hi ln mg pt-br tr uz wa zu bn gu kn ", {2, "(n > 1)"}},
    {" af az bg ca da de el en eo es et eu fi fo fy gl ha he hu hy ia ka kk kl ku ky lb ml mn mr "
     "nb ne "
     "nl nn no pa ps pt sd so sq sv sw ta te tk ur xh yo it ",
     {2, "(n != 1)"}},
    {" is mk ", {2, "(n%10!=1 || n%100==11)"}},
    {" be bs hr ru sr uk ", {3, kSlavic}},
    {" pl ", {3, "(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2)"}},
    {" cs sk ", {3, "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"}},
    {" lt ", {3, "(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2)"}},
    {" lv ", {3, "(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2)"}},
    {" ro ", {3, "(n==1 ? 0 : n==0 || (n%100>0 && n%100<20) ? 1 : 2)"}},
    {" sl ", {4, "(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3)"}},
    {" mt ",
     {4, "(n==1 ? 0 : n==0 || (n%100>1 && n%100<11) ? 1 : (n%100>10 && n%100<20) ? 2 : 3)"}},
    {" ga ", {5, "(n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4)"}},
    {" ar ",
     {6, "(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5)"}},
};

PluralForms FormsNamed(std::string_view language) {
  for (const NamedRule& rule : kRules) {
    if (rule.languages.find(StrCat(" ", language, " ")) != std::string_view::npos)
      return rule.forms;
  }
  return {};
}

}  // namespace

PluralForms PluralFormsOf(std::string_view language) {
  std::string name = absl::AsciiStrToLower(View(language));
  std::ranges::replace(name, '_', '-');
  const PluralForms forms = FormsNamed(name);
  return forms.count > 0 ? forms : FormsNamed(name.substr(0, name.find('-')));
}

}  // namespace millrace::server
