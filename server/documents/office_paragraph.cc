#include "server/documents/office_paragraph.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>

#include "models/core/strings.h"
#include "models/text/ascii.h"

namespace millrace::server {
namespace {

using ItemKind = OfficeItem::Kind;

// Returns what a run's properties say of its look. Languages and marks of an editor are not seen.
std::string LookOf(pugi::xml_node properties) {
  constexpr std::array<std::string_view, 6> kUnseen = {"lang", "altLang",  "dirty",
                                                       "err",  "smtClean", "noProof"};
  std::ostringstream look;
  for (const pugi::xml_attribute attribute : properties.attributes()) {
    if (std::ranges::find(kUnseen, attribute.name()) == kUnseen.end())
      look << attribute.name() << '=' << attribute.value() << ' ';
  }
  for (const pugi::xml_node property : properties.children()) {
    const std::string_view name = property.name();
    if (name != "w:lang" && name != "w:noProof") property.print(look, "", pugi::format_raw);
  }
  return look.str();
}

// Returns the properties that most of the text right in these items has.
pugi::xml_node MostUsed(const std::vector<OfficeItem>& items) {
  struct Use {
    pugi::xml_node properties;
    size_t bytes = 0;
  };
  std::map<std::string, Use> uses;
  for (const OfficeItem& item : items) {
    if (item.kind != ItemKind::kText) continue;
    Use& use = uses[LookOf(item.properties)];
    if (use.bytes == 0) use.properties = item.properties;
    use.bytes += item.text.size();
  }
  const auto most = std::ranges::max_element(
      uses, {}, [](const auto& look_and_use) { return look_and_use.second.bytes; });
  return most == uses.end() ? pugi::xml_node() : most->second.properties;
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// Returns true for a byte of a letter or a digit.
bool IsWordByte(char c) { return models::IsAsciiAlnum(c) || static_cast<unsigned char>(c) >= 0x80; }

// Returns true if an item that shows text stands beside text and touches no word of it. `last`: the
// last byte before it.
bool StandsForWord(const std::vector<OfficeItem>& items, size_t at, char last) {
  const auto is_text = [&](size_t i) {
    return i < items.size() && items[i].kind == ItemKind::kText && !items[i].text.empty();
  };
  if (IsWordByte(last) || (is_text(at + 1) && IsWordByte(items[at + 1].text.front()))) return false;
  return is_text(at + 1) || (at > 0 && is_text(at - 1));
}

// Returns true for what stands before the items in an element and stays: properties, and the
// annotation of ruby text.
bool IsProperties(pugi::xml_node node) {
  const std::string_view name = node.name();
  return name.ends_with("Pr") || name == "w:rt";
}

}  // namespace

OfficeParagraph::OfficeParagraph(pugi::xml_node paragraph, const std::vector<OfficeItem>& items,
                                 const RunSyntax* runs, bool keeps_space)
    : paragraph_(paragraph), runs_(runs), keeps_space_(keeps_space), properties_(MostUsed(items)) {
  AddItems(items, properties_);
}

void OfficeParagraph::AddItems(const std::vector<OfficeItem>& items, pugi::xml_node properties) {
  const std::string look = LookOf(properties);
  for (size_t i = 0; i < items.size(); ++i) {
    const OfficeItem& item = items[i];
    if (item.kind == ItemKind::kText) {
      // Editors divide words among runs that look the same.
      std::string text = item.text;
      const std::string own = LookOf(item.properties);
      while (i + 1 < items.size() && items[i + 1].kind == ItemKind::kText &&
             LookOf(items[i + 1].properties) == own)
        text += items[++i].text;
      if (own == look || IsBlank(text)) {
        AddText(text, item.properties);
        continue;
      }
      const size_t mark = writer_.Open();
      marks_.push_back({.properties = item.properties});
      AddText(text, item.properties);
      writer_.Close(mark);
    } else if (item.kind == ItemKind::kSpan || item.kind == ItemKind::kField) {
      const pugi::xml_node inside = MostUsed(item.inner);
      const size_t mark = writer_.Open();
      marks_.push_back({.is_element = item.kind == ItemKind::kSpan,
                        .properties = inside,
                        .nodes = item.nodes,
                        .end_nodes = item.end_nodes});
      AddItems(item.inner, inside);
      writer_.Close(mark);
    } else {
      const bool is_word = item.is_word && StandsForWord(items, i, writer_.last());
      is_word                         ? writer_.Word()
      : item.kind == ItemKind::kAlone ? writer_.Alone()
                                      : writer_.Divider();
      marks_.push_back({.in_run = item.in_run, .properties = item.properties, .nodes = item.nodes});
    }
  }
}

void OfficeParagraph::AddText(std::string_view text, pugi::xml_node properties) {
  // In a run, a line break is a space.
  const std::string_view breaks = runs_ != nullptr ? "\t" : "\t\n\r";
  // Returns where white space begins that is more than a space: at a break, or at two spaces.
  const auto find_wide = [&](std::string_view rest) {
    size_t at = rest.find_first_of(StrCat(" ", breaks));
    while (at != std::string_view::npos && rest[at] == ' ' &&
           (at + 1 == rest.size() ||
            (rest[at + 1] != ' ' && breaks.find(rest[at + 1]) == std::string_view::npos)))
      at = rest.find_first_of(StrCat(" ", breaks), at + 1);
    return at;
  };
  while (keeps_space_ && !text.empty()) {
    const size_t begin = find_wide(text);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(text.find_first_not_of(StrCat(" ", breaks), begin), text.size());
    writer_.Text(text.substr(0, begin));
    writer_.Divider();
    marks_.push_back(
        {.properties = properties, .spaces = std::string(text.substr(begin, end - begin))});
    text.remove_prefix(end);
  }
  writer_.Text(text);
}

void OfficeParagraph::KeepNamespaces(pugi::xml_node node, pugi::xml_node place) const {
  for (; place && place != paragraph_; place = place.parent()) {
    for (const pugi::xml_attribute attribute : place.attributes()) {
      const std::string_view name = attribute.name();
      const bool declares = name == "xmlns" || name.starts_with("xmlns:");
      if (declares && !node.attribute(attribute.name())) node.append_copy(attribute);
    }
  }
}

pugi::xml_node OfficeParagraph::NewRun(pugi::xml_node parent, pugi::xml_node properties) const {
  if (runs_ == nullptr) return parent;
  pugi::xml_node run = parent.append_child(runs_->run);
  if (properties) KeepNamespaces(run.append_copy(properties), properties.parent());
  return run;
}

void OfficeParagraph::AppendText(pugi::xml_node parent, pugi::xml_node properties,
                                 const std::string& text) const {
  if (text.empty()) return;
  pugi::xml_node run = NewRun(parent, properties);
  if (runs_ != nullptr) {
    run = run.append_child(runs_->text);
    if (runs_->marks_space) run.append_attribute("xml:space") = "preserve";
  }
  run.append_child(pugi::node_pcdata).set_value(text.c_str());
}

pugi::xml_node OfficeParagraph::AppendShell(pugi::xml_node parent, pugi::xml_node element) const {
  pugi::xml_node shell = parent.append_child(element.name());
  for (const pugi::xml_attribute attribute : element.attributes()) shell.append_copy(attribute);
  for (const pugi::xml_node child : element.children()) {
    if (IsProperties(child)) shell.append_copy(child);
  }
  KeepNamespaces(shell, element.parent());
  return shell;
}

void OfficeParagraph::Write(std::string_view translation) {
  const std::vector<InlineToken> tokens = ReadInline(translation, writer_.marks());
  std::vector<pugi::xml_node> old;
  for (const pugi::xml_node child : paragraph_.children()) {
    if (!IsProperties(child)) old.push_back(child);
  }
  std::set<pugi::xml_node> moved;
  struct Place {
    pugi::xml_node parent;
    pugi::xml_node properties;
  };
  std::vector<Place> places = {{paragraph_, properties_}};
  const auto move = [&](pugi::xml_node parent, const std::vector<pugi::xml_node>& nodes) {
    for (const pugi::xml_node node : nodes) {
      KeepNamespaces(node, node.parent());
      parent.append_move(node);
      moved.insert(node);
    }
  };
  for (const InlineToken& token : tokens) {
    const Place place = places.back();
    switch (token.kind) {
      case InlineToken::Kind::kText: {
        std::string text = Unescaped(token.text);
        if (runs_ != nullptr) std::ranges::replace(text, '\n', ' ');
        AppendText(place.parent, place.properties, text);
        break;
      }
      case InlineToken::Kind::kOpen: {
        const Mark& mark = marks_[token.mark];
        pugi::xml_node parent = place.parent;
        if (!mark.is_element) move(parent, mark.nodes);
        for (size_t i = 0; mark.is_element && i < mark.nodes.size(); ++i)
          parent = AppendShell(parent, mark.nodes[i]);
        places.push_back({parent, mark.properties});
        break;
      }
      case InlineToken::Kind::kClose: {
        const Mark& mark = marks_[token.mark];
        places.pop_back();
        move(mark.is_element ? place.parent.parent() : places.back().parent, mark.end_nodes);
        break;
      }
      case InlineToken::Kind::kAlone:
      case InlineToken::Kind::kDivider: {
        const Mark& mark = marks_[token.mark];
        AppendText(place.parent, mark.properties, mark.spaces);
        if (mark.nodes.empty()) break;
        move(mark.in_run ? NewRun(place.parent, mark.properties) : place.parent, mark.nodes);
        break;
      }
    }
  }
  // A range whose place was lost goes on existing: elsewhere something may refer to it.
  for (const Mark& mark : marks_) {
    if (mark.is_element || mark.end_nodes.empty() || moved.contains(mark.end_nodes.back()))
      continue;
    move(paragraph_, mark.nodes);
    move(paragraph_, mark.end_nodes);
  }
  pugi::xml_node paragraph = paragraph_;
  for (const pugi::xml_node node : old) {
    if (!moved.contains(node)) paragraph.remove_child(node);
  }
  if (const pugi::xml_node last =
          runs_ != nullptr ? paragraph.child(runs_->last) : pugi::xml_node())
    paragraph.append_move(last);
}

}  // namespace millrace::server
