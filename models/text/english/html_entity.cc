#include "models/text/english/html_entity.h"

#include <algorithm>
#include <array>

namespace millrace::models {

std::optional<Reading> ReadHtmlEntity(std::string_view text, size_t at) {
  struct Entity {
    std::string_view written;
    std::string_view spoken;
  };
  constexpr std::array<Entity, 12> kEntities = {{{"&#39;", ""},
                                                 {"&amp;", "and"},
                                                 {"&copy;", "copyright"},
                                                 {"&deg;", "degrees"},
                                                 {"&gt;", "greater than"},
                                                 {"&hellip;", ""},
                                                 {"&lt;", "less than"},
                                                 {"&mdash;", ""},
                                                 {"&nbsp;", ""},
                                                 {"&ndash;", ""},
                                                 {"&quot;", ""},
                                                 {"&times;", "times"}}};
  for (const Entity& entity : kEntities) {
    if (!text.substr(std::min(at, text.size())).starts_with(entity.written)) continue;
    Reading reading{at + entity.written.size(), {}};
    reading.AppendEach(entity.spoken);
    return reading;
  }
  return std::nullopt;
}

}  // namespace millrace::models
