#include "models/config/config_section.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "absl/strings/str_join.h"
#include "google/protobuf/descriptor.h"
#include "models/core/errors.h"

namespace millrace::models {
namespace {

namespace pb = google::protobuf;

constexpr size_t kMaxReportedErrors = 8;

}  // namespace

void ConfigErrors::Add(int line, int column, const std::string& message) {
  if (lines_.size() >= kMaxReportedErrors) return;
  const std::string place = line < 0 ? "" : StrCat(":", line + 1, ":", column + 1);
  lines_.push_back(StrCat(source_, place, ": ", message));
  // A string may have control characters, which a terminal would obey.
  std::ranges::replace_if(
      lines_.back(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
}

absl::Status ConfigErrors::ToStatus() const { return InvalidArgument(absl::StrJoin(lines_, "\n")); }

ConfigSection ConfigSection::Child(const pb::Message& child, const std::string& field,
                                   int index) const {
  auto* tree = tree_ == nullptr ? nullptr : tree_->GetTreeForNested(Field(field), index);
  return ConfigSection(child, tree, Path(field, index), Place(field, index), errors_);
}

void ConfigSection::Error(const char* field, const std::string& what, int index) const {
  const pb::TextFormat::ParseLocation place = Place(field, index);
  errors_.Add(place.line, place.column, StrCat(Path(field, index), ": ", what));
}

void ConfigSection::Text(const char* field, const std::string& value, size_t max_length) const {
  if (value.empty() || value.size() > max_length) {
    Error(field, value.empty()
                     ? StrCat("is missing, allowed 1..", max_length, " characters")
                     : StrCat("has ", value.size(), " characters, allowed 1..", max_length));
  }
}

void ConfigSection::FileName(const char* field, const std::string& value) const {
  Text(field, value, 255);
  if (value == "." || value == ".." ||
      value.find_first_of(std::string_view("/\\\0", 3)) != value.npos) {
    Error(field, StrCat("'", value,
                        "' may not leave the model's folder, allowed is the plain "
                        "name of a file in it"));
  }
}

const std::string& ConfigSection::File(const char* field, const std::string& name,
                                       uint64_t max_bytes, KindConfig& config) const {
  FileName(field, name);
  config.AddFile({name, field, max_bytes});
  return name;
}

const pb::FieldDescriptor* ConfigSection::Field(const std::string& name) const {
  return message_.GetDescriptor()->FindFieldByName(name);
}

std::string ConfigSection::Path(const std::string& field, int index) const {
  return StrCat(path_, path_.empty() ? "" : ".", field, index < 0 ? "" : StrCat("[", index, "]"));
}

pb::TextFormat::ParseLocation ConfigSection::Place(const std::string& name, int index) const {
  if (tree_ == nullptr) return place_;
  const pb::FieldDescriptor* field = Field(name);
  const auto place = tree_->GetLocation(field, field->is_repeated() ? std::max(index, 0) : -1);
  return place.line < 0 ? place_ : place;
}

}  // namespace millrace::models
