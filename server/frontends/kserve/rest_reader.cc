#include "server/frontends/kserve/rest_reader.h"

#include <limits>

#include "models/core/strings.h"
#include "server/frontends/kserve/infer_tensors.h"
#include "server/frontends/kserve/invalid_argument.h"
#include "server/frontends/kserve/rest_members.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxDimensions = 64;

// Takes the events of the JSON library's parser. A status that is not OK ends the parsing.
class RestReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  RestReader(const models::ModelInfo& model, size_t json_bytes, RestInferHead& head)
      : model_(model), max_elements_(json_bytes / 2 + 1), head_(head) {}

  const absl::Status& status() const { return status_; }
  // Returns true if data were skipped, because their type was not known yet.
  bool lacks_data() const { return lacks_data_; }
  // From now on only such data are taken, from the same JSON.
  void ReadAgain() {
    again_ = true;
    inputs_ = 0;
  }

  bool null() override { return member_ != RestMember::kNone ? Passed() : Scalar(JsonScalar()); }
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
        now_ = {};
        return Push(RestPlace::kInput);
      case RestPlace::kOutputs:
        output_name_.reset();
        output_binary_.reset();
        return Push(RestPlace::kOutput);
      case RestPlace::kShape:
        return Scalar(JsonScalar());
      case RestPlace::kData:
        return Fail(InvalidArgument(InputName(inputs_), ".data: must not hold an object"));
      default:
        return Enter(RestForm::kObject);
    }
  }

  bool start_array(size_t) override {
    switch (place()) {
      case RestPlace::kTop:
        return Fail(absl::InvalidArgumentError("the body must be a JSON object, not array"));
      case RestPlace::kInputs:
      case RestPlace::kOutputs:
      case RestPlace::kShape:
        return Scalar(JsonScalar());
      case RestPlace::kData:
        return Keep(elements_ == nullptr ? absl::OkStatus() : elements_->Open()) &&
               Push(RestPlace::kData);
      default:
        return Enter(RestForm::kArray);
    }
  }

  bool key(std::string& name) override {
    member_ = RestMember::kNone;
    for (const RestMemberSpec& spec : kRestMembers) {
      if (spec.place != place() || spec.name != name) continue;
      spec_ = &spec;
      member_ = spec.member;
      uint32_t& seen = stack_.back().seen;
      const uint32_t bit = 1U << static_cast<unsigned>(member_);
      if ((seen & bit) != 0) return Fail(InvalidArgument(Where(), ": is given twice"));
      seen |= bit;
      return true;
    }
    switch (place()) {
      case RestPlace::kRequestParameters:
        return Keep(CheckInferParameter(name, [&] { return StrCat("parameters.", name); }));
      case RestPlace::kInputParameters:
        return Keep(CheckInferParameter(
            name, [&] { return StrCat(InputName(inputs_), ".parameters.", name); }));
      case RestPlace::kOutputParameters:
        return Keep(CheckInferParameter(
            name, [&] { return StrCat("outputs[", outputs_, "].parameters.", name); }));
      default:
        return true;
    }
  }

  bool end_object() override {
    const RestPlace ended = place();
    stack_.pop_back();
    member_ = RestMember::kNone;
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
    member_ = RestMember::kNone;
    return true;
  }

  bool parse_error(size_t at, const std::string&, const nlohmann::json::exception& error) override {
    // The library's own message quotes the input.
    constexpr int kOutOfRange = 406;
    return Fail(error.id == kOutOfRange
                    ? InvalidArgument("the body is not valid JSON: a number is out of range")
                    : InvalidArgument("the body is not valid JSON at byte ", at));
  }

 private:
  // The input that is being read.
  struct Input {
    std::optional<std::string> name;
    std::optional<std::string> datatype;
    std::optional<std::vector<int64_t>> shape;
    bool added = false;  // to the head
    bool has_data = false;
    std::optional<uint64_t> binary_bytes;
  };
  struct Level {
    RestPlace place;
    uint32_t seen = 0;  // the members that it had so far, as bits
  };

  RestPlace place() const { return stack_.empty() ? RestPlace::kTop : stack_.back().place; }

  bool Fail(absl::Status status) {
    status_ = std::move(status);
    return false;
  }
  bool Keep(absl::Status status) { return status.ok() || Fail(std::move(status)); }
  bool Passed() {
    member_ = RestMember::kNone;
    return true;
  }

  bool Push(RestPlace place) {
    if (stack_.size() == kMaxDepth)
      return Fail(InvalidArgument("the body is nested deeper than ", kMaxDepth, " levels"));
    stack_.push_back({place});
    return true;
  }

  // Names the member that is being read.
  std::string Where() const {
    const std::string_view name = spec_->name;
    switch (spec_->place) {
      case RestPlace::kRequestParameters:
        return StrCat("parameters.", name);
      case RestPlace::kInput:
        return StrCat(InputName(inputs_), ".", name);
      case RestPlace::kInputParameters:
        return StrCat(InputName(inputs_), ".parameters.", name);
      case RestPlace::kOutput:
        return StrCat("outputs[", outputs_, "].", name);
      case RestPlace::kOutputParameters:
        return StrCat("outputs[", outputs_, "].parameters.", name);
      default:
        return std::string(name);
    }
  }

  bool WrongForm() {
    return Fail(
        InvalidArgument(Where(), ": must be ", kRestForms[static_cast<size_t>(spec_->form)]));
  }

  // The value of a member is an object or an array.
  bool Enter(RestForm form) {
    if (place() == RestPlace::kSkipped || member_ == RestMember::kNone)
      return Push(RestPlace::kSkipped);
    if (spec_->form != form) return WrongForm();
    if (member_ == RestMember::kShape) now_.shape.emplace();
    if (member_ == RestMember::kData && !BeginData()) return false;
    const RestPlace inside = spec_->inside;
    member_ = RestMember::kNone;
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
    if (!output_name_) return Fail(InvalidArgument("outputs[", outputs_, "].name: is missing"));
    for (const std::string& earlier : head_.input.requested_outputs) {
      if (earlier == *output_name_)
        return Fail(
            InvalidArgument("outputs[", outputs_, "].name: '", earlier, "' was given before"));
    }
    head_.binary_output.push_back(output_binary_);
    return Keep(AddRequestedOutput(outputs_++, *output_name_, model_, head_.input));
  }

  bool Scalar(const JsonScalar& value) {
    switch (place()) {
      case RestPlace::kTop:
        return Fail(absl::InvalidArgumentError("the body must be a JSON object"));
      case RestPlace::kInputs:
        return Fail(InvalidArgument(InputName(inputs_), ": must be an object"));
      case RestPlace::kOutputs:
        return Fail(InvalidArgument("outputs[", outputs_, "]: must be an object"));
      case RestPlace::kShape:
        return Dimension(value);
      case RestPlace::kData:
        return elements_ == nullptr || Keep(elements_->Add(value));
      default:
        return again_ || member_ == RestMember::kNone ? Passed() : Value(value);
    }
  }

  bool Dimension(const JsonScalar& value) {
    const std::string name = StrCat(InputName(inputs_), ".shape");
    if (now_.shape->size() == kMaxDimensions)
      return Fail(InvalidArgument(name, ": has more than ", kMaxDimensions, " dimensions"));
    const auto* const whole = std::get_if<uint64_t>(&value);
    const auto* const negative = std::get_if<int64_t>(&value);
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    if (negative == nullptr && (whole == nullptr || *whole > kMax)) {
      return Fail(
          InvalidArgument(name, "[", now_.shape->size(), "]: must be a whole number of 0..", kMax));
    }
    now_.shape->push_back(negative != nullptr ? *negative : static_cast<int64_t>(*whole));
    return true;
  }

  // The value of a member that is known.
  bool Value(const JsonScalar& value) {
    const auto* const text = std::get_if<std::string_view>(&value);
    const auto* const flag = std::get_if<bool>(&value);
    const auto* const number = std::get_if<uint64_t>(&value);
    const bool fits = (spec_->form == RestForm::kString && text != nullptr) ||
                      (spec_->form == RestForm::kBool && flag != nullptr) ||
                      (spec_->form == RestForm::kUnsigned && number != nullptr);
    if (!fits) return WrongForm();
    switch (std::exchange(member_, RestMember::kNone)) {
      case RestMember::kId:
        head_.id = *text;
        return Keep(CheckInferId(head_.id));
      case RestMember::kTimeout:
        head_.timeout_us = *number;
        return true;
      case RestMember::kBinaryOutputs:
        head_.binary_outputs = *flag;
        return true;
      case RestMember::kName:
        now_.name = *text;
        return true;
      case RestMember::kDatatype:
        now_.datatype = *text;
        return true;
      case RestMember::kBinaryBytes:
        now_.binary_bytes = *number;
        return true;
      case RestMember::kOutputName:
        output_name_ = *text;
        return true;
      case RestMember::kBinaryOutput:
        output_binary_ = *flag;
        return true;
      default:
        return true;
    }
  }

  const models::ModelInfo& model_;
  const size_t max_elements_;  // the most that so much JSON can hold
  RestInferHead& head_;
  absl::Status status_;
  bool lacks_data_ = false;
  bool again_ = false;
  std::vector<Level> stack_;
  const RestMemberSpec* spec_ = nullptr;   // the spec of member_
  RestMember member_ = RestMember::kNone;  // the member whose value comes next
  size_t inputs_ = 0;                      // inputs that were read; the index of the one being read
  size_t outputs_ = 0;
  Input now_;
  std::optional<std::string> output_name_;
  std::optional<bool> output_binary_;
  std::unique_ptr<JsonElements> elements_;  // elements being read, unless they are skipped
};

}  // namespace

absl::Status ReadRestInfer(std::string_view json, const models::ModelInfo& model,
                           RestInferHead& head) {
  // The library would take it for the end of the text.
  if (const size_t zero = json.find('\0'); zero != json.npos)
    return InvalidArgument("the body is not valid JSON at byte ", zero + 1);
  RestReader reader(model, json.size(), head);
  nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  if (reader.status().ok() && reader.lacks_data()) {
    reader.ReadAgain();
    nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
  }
  if (!reader.status().ok()) return reader.status();
  return CheckInputCount(head.inputs.size(), model);
}

}  // namespace millrace::server
