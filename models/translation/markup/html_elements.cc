#include "models/translation/markup/html_elements.h"

#include <algorithm>
#include <array>

namespace millrace::translation {
namespace {

constexpr std::array<std::string_view, 37> kInline = {
    "a",      "abbr",   "acronym", "b",    "bdi",  "bdo", "big",   "cite",  "code",   "data",
    "del",    "dfn",    "em",      "font", "i",    "img", "input", "ins",   "kbd",    "label",
    "mark",   "output", "picture", "q",    "ruby", "s",   "samp",  "small", "source", "span",
    "strike", "strong", "sub",     "sup",  "time", "u",   "var"};
constexpr std::array<std::string_view, 4> kInlineWithoutEnd = {"img", "input", "source", "wbr"};
constexpr std::array<std::string_view, 4> kInlineCode = {"code", "kbd", "samp", "var"};
constexpr std::array<std::string_view, 7> kUntouched = {"script", "style", "pre",   "textarea",
                                                        "svg",    "math",  "iframe"};
constexpr std::array<std::string_view, 11> kWithoutEnd = {
    "area", "base", "br", "col", "embed", "hr", "link", "meta", "param", "track", "wbr"};

// Elements that separate blocks.
constexpr std::array<std::string_view, 77> kBlocks = {
    "address",  "applet",     "area",   "article",  "aside",   "audio",    "base",     "body",
    "br",       "button",     "canvas", "caption",  "center",  "col",      "colgroup", "datalist",
    "dd",       "details",    "dialog", "dir",      "div",     "dl",       "dt",       "embed",
    "fieldset", "figcaption", "figure", "footer",   "form",    "frame",    "frameset", "h1",
    "h2",       "h3",         "h4",     "h5",       "h6",      "head",     "header",   "hgroup",
    "hr",       "html",       "legend", "li",       "link",    "main",     "map",      "menu",
    "meta",     "meter",      "nav",    "object",   "ol",      "optgroup", "option",   "p",
    "param",    "progress",   "search", "section",  "select",  "summary",  "table",    "tbody",
    "td",       "tfoot",      "th",     "thead",    "title",   "tr",       "track",    "ul",
    "video",    "slot",       "item",   "noscript", "template"};
constexpr std::array<std::string_view, 27> kParagraphs = {
    "p",     "div",   "ul", "ol", "li",      "dl",      "dt",         "dd",     "h1",
    "h2",    "h3",    "h4", "h5", "h6",      "hr",      "br",         "td",     "table",
    "thead", "tbody", "tr", "th", "article", "section", "blockquote", "header", "footer"};
constexpr std::array<std::string_view, 3> kAnnotations = {"rt", "rp", "rtc"};

bool Among(std::string_view name, const auto& names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

bool IsInlineElement(std::string_view name) {
  return Among(name, kInline) || Among(name, kInlineWithoutEnd);
}

bool HasNoEndTag(std::string_view name) {
  return Among(name, kInlineWithoutEnd) || Among(name, kWithoutEnd);
}

bool IsInlineCode(std::string_view name) { return Among(name, kInlineCode); }

bool IsUntouchedElement(std::string_view name) { return Among(name, kUntouched); }

bool IsRubyAnnotation(std::string_view name) { return Among(name, kAnnotations); }

bool IsBlockElement(std::string_view name) {
  return Among(name, kBlocks) || Among(name, kUntouched) || Among(name, kWithoutEnd);
}

bool IsParagraphElement(std::string_view name) { return Among(name, kParagraphs); }

bool IsPlaceholderElement(std::string_view name) {
  return name.size() > 1 && name[0] != 'h' && name.find_first_not_of("0123456789", 1) == name.npos;
}

}  // namespace millrace::translation
