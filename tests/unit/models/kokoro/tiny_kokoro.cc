#include "tests/unit/models/kokoro/tiny_kokoro.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/models/speech/tiny_weights.h"

namespace millrace::kokoro {
namespace {

constexpr int64_t kStyle = 6;    // for each half
constexpr int64_t kHidden = 12;  // ALBERT's
constexpr int64_t kChannels = 8;
constexpr int64_t kFft = 8;

class Writer final : public speech::TinyWeights {
 public:
  explicit Writer(const TinyKokoro& tiny) : TinyWeights(11, {tiny.shapes, tiny.values}) {}

  void AddLinear(const std::string& name, int64_t out, int64_t in) {
    Add(name + ".weight", {out, in});
    Add(name + ".bias", {out});
  }
  void AddConv(const std::string& name, int64_t out, int64_t in, int64_t taps) {
    Add(name + ".weight", {out, in, taps});
    Add(name + ".bias", {out});
  }
  void AddNorm(const std::string& name, const char* weight, const char* bias, int64_t channels) {
    Add(name + "." + weight, {channels});
    Add(name + "." + bias, {channels});
  }
  void AddLstm(const std::string& name, int64_t in, int64_t hidden) {
    for (const char* direction : {"", "_reverse"}) {
      Add(name + ".weight_ih_l0" + direction, {4 * hidden, in});
      Add(name + ".weight_hh_l0" + direction, {4 * hidden, hidden});
      Add(name + ".bias_ih_l0" + direction, {4 * hidden});
      Add(name + ".bias_hh_l0" + direction, {4 * hidden});
    }
  }
  void AddStyleBlock(const std::string& name, int64_t in, int64_t out, bool doubles) {
    AddConv(name + ".conv1", out, in, 3);
    AddConv(name + ".conv2", out, out, 3);
    AddLinear(name + ".norm1.fc", 2 * in, kStyle);
    AddLinear(name + ".norm2.fc", 2 * out, kStyle);
    if (doubles) AddConv(name + ".pool", in, 1, 3);
    if (in != out) Add(name + ".conv1x1.weight", {out, in, 1});
  }
  void AddSnakeBlock(const std::string& name, int64_t channels, int64_t taps, int64_t layers) {
    for (int64_t i = 0; i < layers; ++i) {
      for (const char* half : {"1.", "2."}) {
        const std::string suffix = half + std::to_string(i);
        AddConv(name + ".convs" + suffix, channels, channels, taps);
        AddLinear(name + ".adain" + suffix + ".fc", 2 * channels, kStyle);
        Add(name + ".alpha" + suffix, {channels}, 0.1F, 1.0F);
      }
    }
  }
};

void AddEncoder(const TinyKokoro& shape, Writer& writer) {
  const std::string embeddings = "bert.embeddings.";
  writer.Add(embeddings + "word_embeddings.weight", {shape.symbols, 5});
  writer.Add(embeddings + "position_embeddings.weight", {shape.positions, 5});
  writer.Add(embeddings + "token_type_embeddings.weight", {2, 5});
  writer.AddNorm(embeddings + "LayerNorm", "weight", "bias", 5);
  writer.AddLinear("bert.encoder.embedding_hidden_mapping_in", kHidden, 5);
  const std::string layer = "bert.encoder.albert_layer_groups.0.albert_layers.0.";
  for (const char* part : {"query", "key", "value", "dense"})
    writer.AddLinear(layer + "attention." + part, kHidden, kHidden);
  writer.AddNorm(layer + "attention.LayerNorm", "weight", "bias", kHidden);
  writer.AddLinear(layer + "ffn", 20, kHidden);
  writer.AddLinear(layer + "ffn_output", kHidden, 20);
  writer.AddNorm(layer + "full_layer_layer_norm", "weight", "bias", kHidden);
  writer.AddLinear("bert_encoder", kChannels, kHidden);
  for (int i = 0; i < 4; i += 2) {
    const std::string lstms = "predictor.text_encoder.lstms.";
    writer.AddLstm(lstms + std::to_string(i), kChannels + kStyle, kChannels / 2);
    writer.AddLinear(lstms + std::to_string(i + 1) + ".fc", 2 * kChannels, kStyle);
  }
  writer.AddLstm("predictor.lstm", kChannels + kStyle, kChannels / 2);
  writer.AddLinear("predictor.duration_proj.linear_layer", shape.durations, kChannels);
  writer.Add("text_encoder.embedding.weight", {shape.symbols, kChannels});
  for (const char* i : {"0", "1"}) {
    writer.AddConv(std::string("text_encoder.cnn.") + i + ".0", kChannels, kChannels, 5);
    writer.AddNorm(std::string("text_encoder.cnn.") + i + ".1", "gamma", "beta", kChannels);
  }
  writer.AddLstm("text_encoder.lstm", kChannels, kChannels / 2);
}

void AddDecoder(Writer& writer) {
  writer.AddLstm("predictor.shared", kChannels + kStyle, kChannels / 2);
  for (const char* curve : {"F0", "N"}) {
    const std::string name = std::string("predictor.") + curve;
    writer.AddStyleBlock(name + ".0", kChannels, kChannels, false);
    writer.AddStyleBlock(name + ".1", kChannels, kChannels / 2, true);
    writer.AddConv(name + "_proj", 1, kChannels / 2, 1);
    writer.AddConv(std::string("decoder.") + curve + "_conv", 1, 1, 3);
  }
  writer.AddConv("decoder.asr_res.0", 3, kChannels, 1);
  writer.AddStyleBlock("decoder.encode", kChannels + 2, 10, false);
  writer.AddStyleBlock("decoder.decode.0", 15, 10, false);
  writer.AddStyleBlock("decoder.decode.1", 15, 12, true);
  const std::string generator = "decoder.generator.";
  writer.AddLinear(generator + "m_source.l_linear", 1, 9);
  const int64_t widths[] = {12, 34, 5};
  const int64_t taps[] = {8, 4};
  for (int i = 0; i < 2; ++i) {
    const std::string number = std::to_string(i);
    writer.Add(generator + "ups." + number + ".weight", {widths[i], widths[i + 1], taps[i]}, 0.1F);
    writer.Add(generator + "ups." + number + ".bias", {widths[i + 1]});
    writer.AddConv(generator + "noise_convs." + number, widths[i + 1], kFft + 2, i == 0 ? 4 : 1);
    writer.AddSnakeBlock(generator + "noise_res." + number, widths[i + 1], 7, 3);
    for (int j = 0; j < 2; ++j) {
      writer.AddSnakeBlock(generator + "resblocks." + std::to_string(2 * i + j), widths[i + 1],
                           3 + 2 * j, 2);
    }
  }
  writer.Add(generator + "conv_post.weight", {kFft + 2, 5, 7}, 0.02F);
  writer.Add(generator + "conv_post.bias", {kFft + 2}, 0.1F, -2.0F);
}

}  // namespace

void WriteTinyKokoro(const std::filesystem::path& folder, const TinyKokoro& shape) {
  Writer writer(shape);
  AddEncoder(shape, writer);
  AddDecoder(writer);
  for (const std::string& voice : shape.voices) writer.Add("voices." + voice, {50, 2 * kStyle});
  std::map<std::string, std::string> metadata = {{"albert_layers", "2"},
                                                 {"albert_heads", "3"},
                                                 {"upsample_strides", "4 2"},
                                                 {"fft", "8 2"},
                                                 {"block_dilations", "1 3;1 2"}};
  for (const auto& [key, value] : shape.metadata) metadata[key] = value;
  writer.Write(folder / "model.safetensors", metadata);
  nlohmann::json settings = {{"sample_rate", 24000}, {"voices", shape.voices}};
  int64_t id = 0;
  for (const char* symbol :
       {" ", ",", ".", "!", "?", "A", "I", "O", "W", "Y", "T", "a", "b", "d", "f", "h", "i",
        "j", "k", "l", "m", "n", "p", "s", "t", "u", "v", "w", "z", "ɑ", "æ", "ð", "ə", "ɛ",
        "ɜ", "ɡ", "ɪ", "ŋ", "ɔ", "ɹ", "ʃ", "ʊ", "ʌ", "ʒ", "ʤ", "ʧ", "θ", "ˈ", "ˌ"})
    settings["vocab"][symbol] = ++id;
  std::ofstream(folder / "kokoro.json") << settings;
}

}  // namespace millrace::kokoro
