// Looks for bodies of an inference over HTTP that break the reader, or that it takes although a
// tensor's data do not fit its shape. Built with -DMILLRACE_FUZZERS=ON by clang.
//
// An input is a line with the length of the JSON, or an empty one for all, and the body.
//
// usage: kserve_fuzz [-max_total_time=60] tests/fuzz/seeds/kserve

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "server/frontends/kserve/infer_tensors.h"
#include "server/frontends/kserve/rest_codec.h"

namespace millrace::server {
namespace {

models::ModelInfo Model() {
  using enum models::DataType;
  models::ModelInfo info;
  info.name = "m";
  info.infer().inputs = {{"F", kFp32, {-1, 2}}, {"S", kBytes, {-1}}};
  info.infer().outputs = {{"F", kFp32, {-1, 2}}, {"S", kBytes, {-1}}};
  return info;
}

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void ReadAndAnswer(std::string_view bytes, const models::ModelInfo& model) {
  const size_t line = bytes.find('\n');
  if (line == std::string_view::npos) return;
  std::optional<std::string> length;
  if (line != 0) length = bytes.substr(0, line);
  const auto request = DecodeRestInfer(std::string(bytes.substr(line + 1)), length, model);
  if (!request.ok()) return;
  for (const models::Tensor& tensor : request->input.inputs) {
    const auto elements = models::ElementCount(tensor.shape);
    Require(elements.has_value(), "a shape is too large");
    Require(CheckTensorData(tensor, *elements, [] { return std::string(); }).ok(),
            "data do not fit their shape");
  }
  const auto answer = EncodeRestInfer({request->input.inputs}, request->form, model);
  Require(!answer.ok() || !answer->json_length || *answer->json_length <= answer->body.size(),
          "the JSON is longer than the answer");
}

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const millrace::models::ModelInfo model = millrace::server::Model();
  millrace::server::ReadAndAnswer({reinterpret_cast<const char*>(data), size}, model);
  return 0;
}
