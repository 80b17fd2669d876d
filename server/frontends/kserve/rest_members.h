#pragma once

#include <cstdint>
#include <string_view>

namespace millrace::server {

// The members of an inference request over HTTP.

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

// The members that are known.
enum class RestMember : uint8_t {
  kNone,
  kId,
  kTimeout,
  kBinaryOutputs,
  kInputs,
  kOutputs,
  kRequestParameters,
  kName,
  kDatatype,
  kShape,
  kData,
  kInputParameters,
  kBinaryBytes,
  kOutputName,
  kOutputParameters,
  kBinaryOutput
};

struct RestMemberSpec {
  RestPlace place;
  std::string_view name;
  RestMember member;
  RestForm form;
  RestPlace inside = RestPlace::kTop;  // the place inside an array or an object
};

inline constexpr RestMemberSpec kRestMembers[] = {
    {RestPlace::kRequest, "id", RestMember::kId, RestForm::kString},
    {RestPlace::kRequest, "inputs", RestMember::kInputs, RestForm::kArray, RestPlace::kInputs},
    {RestPlace::kRequest, "outputs", RestMember::kOutputs, RestForm::kArray, RestPlace::kOutputs},
    {RestPlace::kRequest, "parameters", RestMember::kRequestParameters, RestForm::kObject,
     RestPlace::kRequestParameters},
    {RestPlace::kRequestParameters, "timeout", RestMember::kTimeout, RestForm::kUnsigned},
    {RestPlace::kRequestParameters, "binary_data_output", RestMember::kBinaryOutputs,
     RestForm::kBool},
    {RestPlace::kInput, "name", RestMember::kName, RestForm::kString},
    {RestPlace::kInput, "datatype", RestMember::kDatatype, RestForm::kString},
    {RestPlace::kInput, "shape", RestMember::kShape, RestForm::kArray, RestPlace::kShape},
    {RestPlace::kInput, "data", RestMember::kData, RestForm::kArray, RestPlace::kData},
    {RestPlace::kInput, "parameters", RestMember::kInputParameters, RestForm::kObject,
     RestPlace::kInputParameters},
    {RestPlace::kInputParameters, "binary_data_size", RestMember::kBinaryBytes,
     RestForm::kUnsigned},
    {RestPlace::kOutput, "name", RestMember::kOutputName, RestForm::kString},
    {RestPlace::kOutput, "parameters", RestMember::kOutputParameters, RestForm::kObject,
     RestPlace::kOutputParameters},
    {RestPlace::kOutputParameters, "binary_data", RestMember::kBinaryOutput, RestForm::kBool},
};

inline constexpr std::string_view kRestForms[] = {"a string", "true or false",
                                                  "a whole number >= 0", "an array", "an object"};

}  // namespace millrace::server
