#include "tests/unit/models/bergamot/tiny_model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <span>

#include "tests/fakes/write_safetensors.h"

namespace millrace::bergamot {
namespace {

template <typename T>
TinyTensor MakeTensor(const std::string& dtype, std::vector<int64_t> shape,
                      const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {dtype, std::move(shape),
          std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
}

class Maker {
 public:
  Maker(uint32_t seed, int64_t dim, int64_t hidden) : random_(seed), dim_(dim), hidden_(hidden) {}

  TinyTensors Make() {
    Matrix("Wemb", kTinyTokens, dim_, 300.0F);
    Vector("decoder_ff_logit_out_b", kTinyTokens, 0.0F, 0.5F);
    for (int layer = 1; layer <= 2; ++layer) {
      const std::string encoder = "encoder_l" + std::to_string(layer) + "_";
      Attention(encoder + "self_");
      FeedForward(encoder + "ffn_");
      const std::string decoder = "decoder_l" + std::to_string(layer) + "_";
      Linear(decoder + "rnn_", "f", dim_, dim_);
      Matrix(decoder + "rnn_W", dim_, dim_, 500.0F);
      Norm(decoder + "rnn_ffn");
      Attention(decoder + "context_");
      FeedForward(decoder + "ffn_");
    }
    std::vector<int32_t> offsets = {0};
    std::vector<int32_t> ids;
    for (int64_t token = 0; token < kTinyTokens; ++token) {
      for (int i = 0; i < 6; ++i) ids.push_back(static_cast<int32_t>(random_() % kTinyTokens));
      offsets.push_back(static_cast<int32_t>(ids.size()));
    }
    tensors_["shortlist.first"] = IntTensor({4});
    tensors_["shortlist.offsets"] = IntTensor(offsets);
    tensors_["shortlist.ids"] = IntTensor(ids);
    return std::move(tensors_);
  }

 private:
  void Matrix(const std::string& name, int64_t outputs, int64_t inputs, float multiplier) {
    std::vector<int8_t> values(static_cast<size_t>(outputs * inputs));
    std::uniform_int_distribution<int> any(-127, 127);
    for (int8_t& value : values) value = static_cast<int8_t>(any(random_));
    tensors_[name] = MakeTensor("I8", {outputs, inputs}, values);
    tensors_[name + ".multiplier"] = FloatTensor({multiplier});
  }
  void Vector(const std::string& name, int64_t size, float mean, float deviation) {
    std::vector<float> values(static_cast<size_t>(size));
    std::normal_distribution<float> any(mean, deviation);
    for (float& value : values) value = any(random_);
    tensors_[name] = FloatTensor(values);
  }
  void Linear(const std::string& prefix, const std::string& kind, int64_t outputs, int64_t inputs) {
    Matrix(prefix + "W" + kind, outputs, inputs, 500.0F);
    Vector(prefix + "b" + kind, outputs, 0.0F, 0.3F);
  }
  void Norm(const std::string& prefix) {
    Vector(prefix + "_ln_scale", dim_, 1.0F, 0.2F);
    Vector(prefix + "_ln_bias", dim_, 0.0F, 0.2F);
  }
  void Attention(const std::string& prefix) {
    for (const char* kind : {"q", "k", "v", "o"}) Linear(prefix, kind, dim_, dim_);
    Norm(prefix + "Wo");
  }
  void FeedForward(const std::string& prefix) {
    Linear(prefix, "1", hidden_, dim_);
    Linear(prefix, "2", dim_, hidden_);
    Norm(prefix + "ffn");
  }

  std::mt19937 random_;
  const int64_t dim_;
  const int64_t hidden_;
  TinyTensors tensors_;
};

std::vector<int32_t> IntsOf(const TinyTensor& tensor) {
  std::vector<int32_t> values(tensor.bytes.size() / sizeof(int32_t));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

}  // namespace

TinyTensors MakeTinyTensors(uint32_t seed, int64_t dim, int64_t hidden) {
  return Maker(seed, dim, hidden).Make();
}

void SplitVocabulary(std::span<const int32_t> rows, TinyTensors& tensors) {
  const TinyTensor shared = tensors.at("Wemb");
  const auto dim = static_cast<size_t>(shared.shape[1]);
  const std::vector<int32_t> offsets = IntsOf(tensors.at("shortlist.offsets"));
  const std::vector<int32_t> ids = IntsOf(tensors.at("shortlist.ids"));
  TinyTensor source = {shared.dtype, {static_cast<int64_t>(rows.size()), shared.shape[1]}, {}};
  std::vector<int32_t> source_offsets = {0};
  std::vector<int32_t> source_ids;
  for (const int32_t row : rows) {
    const auto index = static_cast<size_t>(row);
    source.bytes += shared.bytes.substr(index * dim, dim);
    source_ids.insert(source_ids.end(), ids.begin() + offsets[index],
                      ids.begin() + offsets[index + 1]);
    source_offsets.push_back(static_cast<int32_t>(source_ids.size()));
  }
  tensors["encoder_Wemb"] = source;
  tensors["encoder_Wemb.multiplier"] = tensors.at("Wemb.multiplier");
  tensors["decoder_Wemb"] = shared;
  tensors["decoder_Wemb.multiplier"] = tensors.at("Wemb.multiplier");
  tensors.erase("Wemb");
  tensors.erase("Wemb.multiplier");
  tensors["shortlist.offsets"] = IntTensor(source_offsets);
  tensors["shortlist.ids"] = IntTensor(source_ids);
}

TinyTensor FloatTensor(const std::vector<float>& values) {
  return MakeTensor("F32", {static_cast<int64_t>(values.size())}, values);
}

TinyTensor IntTensor(const std::vector<int32_t>& values) {
  return MakeTensor("I32", {static_cast<int64_t>(values.size())}, values);
}

void WriteSafetensors(const std::filesystem::path& path, const TinyTensors& tensors) {
  std::string header = "{";
  std::string data;
  for (const char* dtype : {"F32", "I32", "I8"}) {  // wide ones first: all are aligned
    for (const auto& [name, tensor] : tensors) {
      if (tensor.dtype != dtype) continue;
      std::string shape;
      for (const int64_t size : tensor.shape) {
        shape += (shape.empty() ? "" : ",") + std::to_string(size);
      }
      header += (header.size() > 1 ? ",\"" : "\"") + name + R"(":{"dtype":")" + dtype +
                R"(","shape":[)" + shape + R"(],"data_offsets":[)" + std::to_string(data.size()) +
                "," + std::to_string(data.size() + tensor.bytes.size()) + "]}";
      data += tensor.bytes;
    }
  }
  testing::WriteSafetensors(path, header + "}", data);
}

std::filesystem::path TestDataFolder() {
  return std::filesystem::path(MILLRACE_SOURCE_DIR) / "tests" / "data" / "translation";
}

}  // namespace millrace::bergamot
