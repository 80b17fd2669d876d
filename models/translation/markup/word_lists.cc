#include "models/translation/markup/word_lists.h"

#include <cstddef>
#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/translation/markup/word_lists_text.h"

namespace millrace::translation {
namespace {

constexpr size_t kFieldsOfList = 2;  // the name, the words

const models::TableRow<kFieldsOfList>* FindList(std::string_view list) {
  static const auto& table =
      *new models::WordTable<kFieldsOfList>(kWordListsText);  // never destroyed: threads may use it
  return table.Find(list);
}

}  // namespace

std::string PrimarySubtag(std::string_view language) {
  return models::AsciiLower(language.substr(0, language.find_first_of("-_")));
}

bool HasList(std::string_view list) { return FindList(list) != nullptr; }

bool IsListed(std::string_view list, std::string_view word) {
  const auto* const row = FindList(list);
  return row != nullptr && HasWord((*row)[1], word);
}

}  // namespace millrace::translation
