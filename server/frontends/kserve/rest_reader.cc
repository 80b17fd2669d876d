#include "server/frontends/kserve/rest_reader.h"

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/functional/function_ref.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/frontends/kserve/infer_tensors.h"
#include "server/json/ignored_members.h"
#include "server/json/json_parse.h"
#include "server/json/json_text.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxDimensions = 64;

// Where in the JSON a value stands.
enum class RestPlace : uint8_t {
  kTop,
  kRequest,
  kRequestParameters,
  kInputs,
  kInput,
  kInputParameters,
  kShape,
  kData,
  kOutputs,
  kOutput,
  kOutputParameters,
  kSkipped
};

// The form that the value of a member must have; kRestForms has the words for it.
enum class RestForm : uint8_t { kString, kBool, kUnsigned, kArray, kObject };

constexpr std::string_view kAnArray = "an array";
constexpr std::string_view kAnObject = "an object";
constexpr std::string_view kRestForms[] = {"a string", "true or false", "a whole number >= 0",
                                           kAnArray, kAnObject};

// Takes the events of the JSON library's parser. A status that is not OK ends the parsing.
class RestReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  RestReader(const models::ModelInfo& model, std::string_view text, RestInferHead& head)
      : model_(model), text_(text), max_elements_(text.size() / 2 + 1), head_(head) {}

  const absl::Status& status() const { return status_; }
  // Returns true if data were skipped, because their type was not known yet.
  bool lacks_data() const { return lacks_data_; }
  // From now on only such data are taken, from the same JSON.
  void ReadAgain() {
    again_ = true;
    inputs_ = 0;
  }

  bool null() override { return member_ != nullptr ? Passed() : Scalar(JsonScalar()); }
  bool boolean(bool value) override { return Scalar(value); }
  bool number_integer(int64_t value) override { return Scalar(value); }
  bool number_unsigned(uint64_t value) override { return Scalar(value); }
  bool number_float(double value, const std::string&) override { return Scalar(value); }
  bool string(std::string& value) override {
    const std::string_view text = value;
    return Scalar(text);
  }
  bool binary(nlohmann::json::binary_t&) override { return true; }  // JSON has none

  bool start_object(size_t) override {
    switch (place()) {
      case RestPlace::kTop:
        return Push(RestPlace::kRequest);
      case RestPlace::kInputs:
      case RestPlace::kOutputs:
        now_ = {};
        return Push(place() == RestPlace::kInputs ? RestPlace::kInput : RestPlace::kOutput);
      case RestPlace::kShape:
        return Scalar(JsonScalar(), kAnObject);
      case RestPlace::kData:
        return Fail(InvalidArgument(InputName(inputs_), ".data: must not hold an object"));
      default:
        return Enter(RestForm::kObject);
    }
  }

  bool start_array(size_t) override {
    switch (place()) {
      case RestPlace::kTop:
        return Fail(InvalidArgument("the body must be a JSON object, not an array"));
      case RestPlace::kInputs:
      case RestPlace::kOutputs:
      case RestPlace::kShape:
        return Scalar(JsonScalar(), kAnArray);
      case RestPlace::kData:
        return Keep(elements_ == nullptr ? absl::OkStatus() : elements_->Open()) &&
               Push(RestPlace::kData);
      default:
        return Enter(RestForm::kArray);
    }
  }

  bool key(std::string& name) override {
    member_ = FindMember(name);
    if (member_ != nullptr) {
      uint32_t& seen = stack_.back().seen;
      const uint32_t bit = 1U << (member_ - Members().data());
      if ((seen & bit) != 0) return Fail(InvalidArgument(Where(), ": is given twice"));
      seen |= bit;
      return true;
    }
    if (!again_ && place() != RestPlace::kSkipped) unknown_ = name;
    return true;
  }

  bool end_object() override {
    const RestPlace ended = place();
    stack_.pop_back();
    member_ = nullptr;
    if (ended == RestPlace::kRequest) {
      head_.id = request_.id.value_or("");
      head_.timeout_us = request_.timeout_us.value_or(0);
      head_.binary_outputs = request_.binary.value_or(false);
    }
    if (ended == RestPlace::kInput) return EndInput();
    if (ended == RestPlace::kOutput) return EndOutput();
    return true;
  }

  bool end_array() override {
    const RestPlace ended = place();
    if (ended == RestPlace::kData && elements_ != nullptr) {
      bool done = false;
      if (!Keep(elements_->Close(done))) return false;
      if (done) elements_.reset();
    }
    stack_.pop_back();
    member_ = nullptr;
    return true;
  }

  bool parse_error(size_t at, const std::string&, const nlohmann::json::exception& error) override {
    return Fail(NotJson("the body", text_, at, error));
  }

 private:
  // The members of the request, or of the input or output that is being read, that are known.
  struct Object {
    std::optional<std::string> id = {};
    std::optional<uint64_t> timeout_us = {};
    std::optional<bool> binary = {};
    std::optional<std::string> name = {};
    std::optional<std::string> datatype = {};
    std::optional<std::vector<int64_t>> shape = {};
    std::optional<uint64_t> binary_bytes = {};
    bool has_data = false;
    bool added = false;  // to the head
  };
  struct Level {
    RestPlace place;
    uint32_t seen = 0;  // the members that it had so far, as bits
  };

  // A member that is known.
  struct Member {
    RestPlace place;
    std::string_view name;
    RestForm form;
    RestPlace inside = RestPlace::kTop;  // the place inside an array or an object
    // Where another value goes.
    std::variant<std::optional<std::string> Object::*, std::optional<bool> Object::*,
                 std::optional<uint64_t> Object::*>
        value = {};
  };

  static std::span<const Member> Members() {
    using enum RestPlace;
    using enum RestForm;
    static constexpr Member kMembers[] = {
        {kRequest, "id", kString, kTop, &Object::id},
        {kRequest, "inputs", kArray, kInputs},
        {kRequest, "outputs", kArray, kOutputs},
        {kRequest, "parameters", kObject, kRequestParameters},
        {kRequestParameters, "timeout", kUnsigned, kTop, &Object::timeout_us},
        {kRequestParameters, "binary_data_output", kBool, kTop, &Object::binary},
        {kInput, "name", kString, kTop, &Object::name},
        {kInput, "datatype", kString, kTop, &Object::datatype},
        {kInput, "shape", kArray, kShape},
        {kInput, "data", kArray, kData},
        {kInput, "parameters", kObject, kInputParameters},
        {kInputParameters, "binary_data_size", kUnsigned, kTop, &Object::binary_bytes},
        {kOutput, "name", kString, kTop, &Object::name},
        {kOutput, "parameters", kObject, kOutputParameters},
        {kOutputParameters, "binary_data", kBool, kTop, &Object::binary}};
    return kMembers;
  }

  // Returns the member of that name at this place; null if it is not known.
  const Member* FindMember(std::string_view name) const {
    for (const Member& member : Members()) {
      if (member.place == place() && member.name == name) return &member;
    }
    return nullptr;
  }

  RestPlace place() const { return stack_.empty() ? RestPlace::kTop : stack_.back().place; }

  bool Fail(absl::Status status) {
    status_ = std::move(status);
    return false;
  }
  bool Keep(absl::Status status) { return status.ok() || Fail(std::move(status)); }
  bool Passed() {
    member_ = nullptr;
    return true;
  }

  bool Push(RestPlace place) {
    if (stack_.size() == kMaxDepth)
      return Fail(InvalidArgument("the body is nested deeper than ", kMaxDepth, " levels"));
    stack_.push_back({place});
    return true;
  }

  // Returns what stands before the name of a member at this place.
  std::string Prefix(RestPlace place) const {
    switch (place) {
      case RestPlace::kRequestParameters:
        return "parameters.";
      case RestPlace::kInput:
        return StrCat(InputName(inputs_), ".");
      case RestPlace::kInputParameters:
        return StrCat(InputName(inputs_), ".parameters.");
      case RestPlace::kOutput:
        return StrCat("outputs[", outputs_, "].");
      case RestPlace::kOutputParameters:
        return StrCat("outputs[", outputs_, "].parameters.");
      default:
        return {};
    }
  }
  // Names the member that is being read.
  std::string Where() const { return StrCat(Prefix(member_->place), member_->name); }

  // shown: the value of the member that is being read.
  bool WrongForm(std::string_view shown) {
    return Fail(InvalidArgument(Where(), ": must be ",
                                kRestForms[static_cast<size_t>(member_->form)], ", not ", shown));
  }

  // The value of a member is an object or an array.
  bool Enter(RestForm form) {
    if (place() == RestPlace::kSkipped || member_ == nullptr)
      return TakeUnknown(/*unset=*/false) && Push(RestPlace::kSkipped);
    if (member_->form != form) return WrongForm(kRestForms[static_cast<size_t>(form)]);
    const RestPlace inside = std::exchange(member_, nullptr)->inside;
    if (inside == RestPlace::kShape) now_.shape.emplace();
    if (inside == RestPlace::kData && !BeginData()) return false;
    return Push(inside);
  }

  bool BeginData() {
    now_.has_data = true;
    if (!again_) {
      if (!now_.name || !now_.datatype || !now_.shape) {
        lacks_data_ = true;
        return true;
      }
      if (!AddInput()) return false;
    } else if (head_.inputs[inputs_].has_data) {
      return true;
    }
    RestInferHead::Input& input = head_.inputs[inputs_];
    input.has_data = true;
    elements_ = std::make_unique<JsonElements>(head_.input.inputs[inputs_], input.elements,
                                               max_elements_, StrCat(InputName(inputs_), ".data"));
    return Keep(elements_->Open());
  }

  bool AddInput() {
    now_.added = true;
    return Keep(AddInputTensor(inputs_, *now_.name, *now_.datatype, *std::move(now_.shape), model_,
                               head_.input, head_.inputs.emplace_back().elements));
  }

  bool EndInput() {
    if (!again_) {
      for (const auto& [missing, name] : {std::pair<bool, const char*>{!now_.name, "name"},
                                          {!now_.datatype, "datatype"},
                                          {!now_.shape, "shape"}}) {
        if (missing) return Fail(InvalidArgument(InputName(inputs_), ".", name, ": is missing"));
      }
      if (!now_.added && !AddInput()) return false;
      if (now_.has_data == now_.binary_bytes.has_value()) {
        return Fail(InvalidArgument(InputName(inputs_),
                                    ": needs either data or the parameter binary_data_size",
                                    now_.has_data ? ", not both" : ""));
      }
      head_.inputs.back().binary_bytes = now_.binary_bytes;
    }
    ++inputs_;
    return true;
  }

  bool EndOutput() {
    if (again_) return true;
    if (!now_.name) return Fail(InvalidArgument("outputs[", outputs_, "].name: is missing"));
    head_.binary_output.push_back(now_.binary);
    return Keep(AddRequestedOutput(outputs_++, *now_.name, model_, head_.input));
  }

  // nested: what stands in the place of a scalar, if it is none.
  bool Scalar(const JsonScalar& value, std::string_view nested = {}) {
    const auto shown = [&] { return nested.empty() ? ScalarText(value) : std::string(nested); };
    switch (place()) {
      case RestPlace::kTop:
        return Fail(InvalidArgument("the body must be a JSON object, not ", shown()));
      case RestPlace::kInputs:
        return Fail(InvalidArgument(InputName(inputs_), ": must be an object, not ", shown()));
      case RestPlace::kOutputs:
        return Fail(InvalidArgument("outputs[", outputs_, "]: must be an object, not ", shown()));
      case RestPlace::kShape:
        return Dimension(value, shown);
      case RestPlace::kData:
        return elements_ == nullptr || Keep(elements_->Add(value));
      default:
        if (!again_ && member_ == nullptr) return TakeUnknown(IsUnset(value));
        return again_ ? Passed() : Value(value);
    }
  }

  // As over gRPC, a parameter of 0 or of no text is as if it were not there.
  static bool IsUnset(const JsonScalar& value) {
    return value == JsonScalar() || value == JsonScalar(false) ||
           value == JsonScalar(uint64_t{0}) || value == JsonScalar(std::string_view());
  }

  // The value of a member that is not known has come.
  bool TakeUnknown(bool unset) {
    const std::optional<std::string> name = std::exchange(unknown_, std::nullopt);
    if (!name || unset) return true;
    const auto where = [&] { return StrCat(Prefix(place()), *name); };
    const bool is_parameter = place() == RestPlace::kRequestParameters ||
                              place() == RestPlace::kInputParameters ||
                              place() == RestPlace::kOutputParameters;
    if (is_parameter) return Keep(IgnoreInferParameter(*name, where, head_.ignored));
    AddIgnored(where(), head_.ignored);
    return true;
  }

  bool Dimension(const JsonScalar& value, absl::FunctionRef<std::string()> shown) {
    const std::string name = StrCat(InputName(inputs_), ".shape");
    if (now_.shape->size() == kMaxDimensions)
      return Fail(InvalidArgument(name, ": has more than ", kMaxDimensions, " dimensions"));
    const auto* const whole = std::get_if<uint64_t>(&value);
    const auto* const negative = std::get_if<int64_t>(&value);
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    if (negative == nullptr && (whole == nullptr || *whole > kMax)) {
      return Fail(InvalidArgument(name, "[", now_.shape->size(), "]: must be a whole number of 0..",
                                  kMax, ", not ", shown()));
    }
    now_.shape->push_back(negative != nullptr ? *negative : static_cast<int64_t>(*whole));
    return true;
  }

  // The value of a member that is known.
  bool Value(const JsonScalar& value) {
    if (member_->inside != RestPlace::kTop) return WrongForm(ScalarText(value));
    const bool of_request =
        place() == RestPlace::kRequest || place() == RestPlace::kRequestParameters;
    const bool taken = std::visit(
        [&]<typename T>(std::optional<T> Object::*member) {
          using Read = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;
          const auto* const read = std::get_if<Read>(&value);
          if (read != nullptr) ((of_request ? request_ : now_).*member).emplace(*read);
          return read != nullptr;
        },
        member_->value);
    if (!taken) return WrongForm(ScalarText(value));
    return std::exchange(member_, nullptr)->name != "id" || Keep(CheckInferId(*request_.id));
  }

  const models::ModelInfo& model_;
  const std::string_view text_;
  const size_t max_elements_;  // the most that so much JSON can hold
  RestInferHead& head_;
  absl::Status status_;
  bool lacks_data_ = false;
  bool again_ = false;
  std::vector<Level> stack_;
  const Member* member_ = nullptr;      // the member whose value comes next, if it is known
  std::optional<std::string> unknown_;  // its name, if it is not
  size_t inputs_ = 0;                   // inputs that were read; the index of the one being read
  size_t outputs_ = 0;
  Object request_;
  Object now_;
  std::unique_ptr<JsonElements> elements_;  // elements being read, unless they are skipped
};

// Says what is expected, as a client may not know that.
absl::Status EmptyBody(const models::ModelInfo& model) {
  std::string inputs;
  for (const models::TensorSpec& spec : model.infer().inputs) {
    inputs += StrCat(inputs.empty() ? "" : ", ", R"({"name": )",
                     JsonText(nlohmann::json(spec.name)), R"(, "datatype": ")", ToString(spec.type),
                     R"(", "shape": )", ShapeText(spec.shape), R"(, "data": [...]})");
  }
  return InvalidArgument(R"(the body is empty; it must be JSON such as {"inputs": [)", inputs,
                         "]}");
}

}  // namespace

absl::Status ReadRestInfer(std::string_view json, const models::ModelInfo& model,
                           RestInferHead& head) {
  if (json.find_first_not_of(" \t\r\n") == json.npos) return EmptyBody(model);
  // The library would take it for the end of the text.
  if (const size_t zero = json.find('\0'); zero != json.npos)
    return NotJsonAt("the body", json, zero + 1);
  RestReader reader(model, json, head);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  if (reader.status().ok() && reader.lacks_data()) {
    reader.ReadAgain();
    nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  }
  if (!reader.status().ok()) return reader.status();
  return CheckInputCount(head.inputs.size(), model);
}

}  // namespace millrace::server
