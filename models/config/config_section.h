#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "models/core/model_kind.h"
#include "models/core/strings.h"

namespace millrace::models {

// Collects the errors in a text, one line each: "<source>:<line>:<column>: <message>".
class ConfigErrors final : public google::protobuf::io::ErrorCollector {
 public:
  explicit ConfigErrors(std::string_view source) : source_(source) {}

// Protobuf 22 renamed the callback and changed the type of its message.
#if GOOGLE_PROTOBUF_VERSION >= 4022000
  void RecordError(int line, google::protobuf::io::ColumnNumber column,
                   absl::string_view message) override {
    Add(line, column, std::string(message));
  }
#else
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    Add(line, column, message);
  }
#endif

  // line and column count from 0; a negative line means that the place is unknown.
  void Add(int line, int column, const std::string& message);

  bool empty() const { return lines_.empty(); }
  absl::Status ToStatus() const;

 private:
  const std::string source_;
  std::vector<std::string> lines_;
};

// One message of a text whose values are checked; it knows the position of each field in the text.
// Used on one thread; the message, the tree and the errors must outlive it.
class ConfigSection {
 public:
  // tree: null when the message is not in the text. path: the message's path in the text, empty for
  // the root.
  ConfigSection(const google::protobuf::Message& message,
                google::protobuf::TextFormat::ParseInfoTree* tree, std::string path,
                google::protobuf::TextFormat::ParseLocation place, ConfigErrors& errors)
      : message_(message), tree_(tree), path_(std::move(path)), place_(place), errors_(errors) {}

  // Returns the message, which must be of this type.
  template <typename Message>
  const Message& As() const {
    return static_cast<const Message&>(message_);
  }

  // index: only for repeated fields.
  ConfigSection Child(const google::protobuf::Message& child, const std::string& field,
                      int index = -1) const;

  void Error(const char* field, const std::string& what, int index = -1) const;

  template <class T>
  void Range(const char* field, T value, T low, T high) const {
    if (!(value >= low && value <= high)) {
      Error(field, StrCat(value, " is out of range, allowed ", low, "..", high));
    }
  }

  void Text(const char* field, const std::string& value, size_t max_length = 128) const;
  void FileName(const char* field, const std::string& value) const;
  // Checks the name of a file and adds it to those that the model needs. Returns the name.
  const std::string& File(const char* field, const std::string& name, uint64_t max_bytes,
                          KindConfig& config) const;
  // The same for a file that a model may do without, whose name is empty then.
  const std::string& FileIfAny(const char* field, const std::string& name, uint64_t max_bytes,
                               KindConfig& config) const {
    return name.empty() ? name : File(field, name, max_bytes, config);
  }

 private:
  const google::protobuf::FieldDescriptor* Field(const std::string& name) const;
  std::string Path(const std::string& field, int index) const;
  // Returns the position of the field, or of its section when the text does not contain the field.
  google::protobuf::TextFormat::ParseLocation Place(const std::string& name, int index) const;

  const google::protobuf::Message& message_;
  google::protobuf::TextFormat::ParseInfoTree* tree_;
  const std::string path_;
  const google::protobuf::TextFormat::ParseLocation place_;
  ConfigErrors& errors_;
};

}  // namespace millrace::models
