#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

// Native data as messages between the front and its executors. Both are one program of one version
// on one machine, so numbers are sent as they lie in memory, and nothing says which fields there
// are: a struct is the fields that its function Fields names, in this order, to write them and to
// read them. Archive is a FieldWriter, for which the struct is constant, or a FieldReader:
//
//   void Fields(auto& archive, MaybeConst<Term> auto& term) {
//     archive(term.source, term.target);
//   }
namespace millrace::server {

template <typename T, typename Struct>
concept MaybeConst = std::is_same_v<std::remove_const_t<T>, Struct>;

// Numbers, enumerators, durations and points of time.
template <typename T>
concept PlainValue = std::is_arithmetic_v<T> || std::is_enum_v<T> || requires {
  typename T::rep;
};

// Writes a message: its header, and the large data behind it.
class FieldWriter {
 public:
  static constexpr bool kReads = false;

  template <typename... Field>
  void operator()(const Field&... fields) {
    (Write(fields), ...);
  }
  template <typename Enum>
  void Enumerator(Enum value, Enum /*last*/, std::string_view /*what*/) {
    Write(value);
  }
  // The data of a string or a vector of numbers are sent from where they are, and must outlive
  // this.
  template <typename Data>
  void Large(const Data& data) {
    const size_t bytes = data.size() * sizeof(typename Data::value_type);
    Write(bytes);
    behind_.emplace_back(reinterpret_cast<const char*>(data.data()), bytes);
  }

  const std::string& header() const { return header_; }
  std::span<const std::string_view> behind() const { return behind_; }

 private:
  template <typename Struct>
  void Write(const Struct& value) {
    Fields(*this, value);
  }
  template <PlainValue T>
  void Write(const T& value) {
    header_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Write(const std::string& text) {
    Write(text.size());
    header_ += text;
  }
  void Write(const std::filesystem::path& path) { Write(path.string()); }
  void Write(const absl::Status& status) {
    Write(status.code());
    Write(std::string(Message(status)));
  }
  template <typename T>
  void Write(const std::optional<T>& value) {
    Write(value.has_value());
    if (value) Write(*value);
  }
  template <typename T>
  void Write(const std::vector<T>& values) {
    Write(values.size());
    for (const T& value : values) Write(value);
  }
  template <typename... T>
  void Write(const std::variant<T...>& value) {
    Write(value.index());
    std::visit([this](const auto& one) { this->Write(one); }, value);
  }

  std::string header_;
  std::vector<std::string_view> behind_;
};

// Reads a message. After an error, which it keeps, it reads only zeros.
class FieldReader {
 public:
  static constexpr bool kReads = true;

  explicit FieldReader(std::string_view header, std::string_view behind = {})
      : header_(header), behind_(behind) {}

  template <typename... Field>
  void operator()(Field&... fields) {
    (Read(fields), ...);
  }
  template <typename Enum>
  void Enumerator(Enum& value, Enum last, std::string_view what) {
    Read(value);
    if (value >= Enum() && value <= last) return;
    Refuse(StrCat("unknown ", what, " ", static_cast<int>(value)));
    value = Enum();
  }
  template <typename Data>
  void Large(Data& data) {
    constexpr size_t kSize = sizeof(typename Data::value_type);
    size_t bytes = 0;
    Read(bytes);
    if (bytes % kSize != 0) return Refuse("a number is cut");
    const std::string_view taken = Take(bytes, behind_);
    data.resize(taken.size() / kSize);
    if (!taken.empty()) std::memcpy(data.data(), taken.data(), taken.size());
  }
  // Refuses the message for this reason, if it is the first one.
  void Refuse(std::string_view why) {
    if (status_.ok()) status_ = InvalidArgument("a message of an executor is malformed: ", why);
    header_ = {};
  }
  // Refuses a message that does not have this property.
  void Require(bool property, std::string_view why) {
    if (!property) Refuse(why);
  }

  bool at_end() const { return header_.empty(); }
  // Returns the first error, or whether data are left.
  absl::Status End() {
    Require(header_.empty() && (!status_.ok() || behind_.empty()), "its end belongs to nothing");
    return status_;
  }

 private:
  std::string_view Take(size_t bytes, std::string_view& from) {
    if (bytes > from.size()) {
      Refuse("data are missing");
      return {};
    }
    const std::string_view taken = from.substr(0, bytes);
    from.remove_prefix(bytes);
    return taken;
  }
  // Reads the length of a text or a list, of whose elements each takes a byte at least.
  size_t ReadLength() {
    size_t length = 0;
    Read(length);
    Require(length <= header_.size(), "data are missing");
    return status_.ok() ? length : 0;
  }

  template <typename Struct>
  void Read(Struct& value) {
    Fields(*this, value);
  }
  template <PlainValue T>
  void Read(T& value) {
    const std::string_view bytes = Take(sizeof(value), header_);
    if constexpr (std::is_same_v<T, bool>) {
      value = !bytes.empty() && bytes[0] != 0;
    } else {
      value = T();
      if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    }
  }
  void Read(std::string& text) { text = Take(ReadLength(), header_); }
  void Read(std::filesystem::path& path) {
    std::string text;
    Read(text);
    path = text;
  }
  void Read(absl::Status& status) {
    absl::StatusCode code{};
    std::string message;
    Enumerator(code, absl::StatusCode::kUnauthenticated, "status");
    Read(message);
    status = absl::Status(code, message);
  }
  template <typename T>
  void Read(std::optional<T>& value) {
    bool has_value = false;
    Read(has_value);
    value.reset();
    if (has_value) Read(value.emplace());
  }
  template <typename T>
  void Read(std::vector<T>& values) {
    const size_t size = ReadLength();
    values.clear();
    while (values.size() < size && status_.ok()) Read(values.emplace_back());
  }
  template <typename... T>
  void Read(std::variant<T...>& value) {
    size_t index = 0;
    Read(index);
    size_t at = 0;
    const bool is_known = ((at++ == index && (Read(value.template emplace<T>()), true)) || ...);
    Require(is_known, "it is of an unknown kind");
  }

  std::string_view header_;
  std::string_view behind_;
  absl::Status status_;
};

}  // namespace millrace::server
