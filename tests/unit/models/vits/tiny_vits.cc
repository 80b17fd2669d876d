#include "tests/unit/models/vits/tiny_vits.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/models/speech/tiny_weights.h"

namespace millrace::vits {
namespace {

constexpr int64_t kSpeakerChannels = 6;

class Writer final : public speech::TinyWeights {
 public:
  explicit Writer(const TinyVits& tiny) : TinyWeights(7, {tiny.shapes, tiny.values}) {}

  // Random values that keep the variance of what passes through: `fan_in` inputs make one output.
  void Add(const std::string& name, const Shape& fitting, int64_t fan_in) {
    TinyWeights::Add(name, fitting, 1.0F / std::sqrt(static_cast<float>(fan_in)));
  }
  void AddConv(const std::string& name, int64_t out, int64_t in, int64_t kernel) {
    Add(name + ".weight", {out, in, kernel}, in * kernel);
    Add(name + ".bias", {out}, 100);
  }
  void AddNorm(const std::string& name, int64_t channels) {
    Add(name + ".gamma", {channels}, 1);
    Add(name + ".beta", {channels}, 10);
  }
  void AddSeparable(const std::string& name, int64_t channels) {
    for (int64_t i = 0; i < 2; ++i) {
      const std::string suffix = "." + std::to_string(i);
      AddConv(name + ".convs_sep" + suffix, channels, 1, 3);
      AddConv(name + ".convs_1x1" + suffix, channels, channels, 1);
      AddNorm(name + ".norms_1" + suffix, channels);
      AddNorm(name + ".norms_2" + suffix, channels);
    }
  }
};

std::string Join(const std::vector<int64_t>& numbers) {
  std::string text;
  for (int64_t number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

void AddEncoder(const TinyVits& shape, Writer& writer) {
  const int64_t hidden = shape.hidden;
  writer.Add("enc_p.emb.weight", {shape.symbols, hidden}, hidden);
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string suffix = "." + std::to_string(i);
    const std::string attention = "enc_p.encoder.attn_layers" + suffix;
    for (const char* part : {"conv_q", "conv_k", "conv_v", "conv_o"})
      writer.AddConv(attention + "." + part, hidden, hidden, 1);
    for (const char* part : {"emb_rel_k", "emb_rel_v"}) {
      writer.Add(attention + "." + part, {1, 9, hidden / shape.heads}, hidden / shape.heads);
    }
    writer.AddNorm("enc_p.encoder.norm_layers_1" + suffix, hidden);
    writer.AddNorm("enc_p.encoder.norm_layers_2" + suffix, hidden);
    writer.AddConv("enc_p.encoder.ffn_layers" + suffix + ".conv_1", 2 * hidden, hidden, 3);
    writer.AddConv("enc_p.encoder.ffn_layers" + suffix + ".conv_2", hidden, 2 * hidden, 3);
  }
  writer.AddConv("enc_p.proj", 2 * shape.latent, hidden, 1);
  writer.AddConv("dp.pre", hidden, hidden, 1);
  writer.AddConv("dp.proj", hidden, hidden, 1);
  writer.AddSeparable("dp.convs", hidden);
  for (const char* flow : {"dp.flows.3", "dp.flows.5", "dp.flows.7"}) {
    writer.AddConv(std::string(flow) + ".pre", hidden, 1, 1);
    writer.AddConv(std::string(flow) + ".proj", 29, hidden, 1);
    writer.AddSeparable(std::string(flow) + ".convs", hidden);
  }
  writer.Add("dp.flows.0.m", {2, 1}, 1);
  writer.Add("dp.flows.0.logs", {2, 1}, 100);
}

void AddDecoder(const TinyVits& shape, Writer& writer) {
  const int64_t hidden = shape.flow_hidden;
  const auto layers = static_cast<int64_t>(shape.flow_dilations.size());
  for (const char* flow : {"flow.flows.0", "flow.flows.2", "flow.flows.4", "flow.flows.6"}) {
    const std::string name = flow;
    writer.AddConv(name + ".pre", hidden, shape.latent / 2, 1);
    writer.AddConv(name + ".post", shape.latent / 2, hidden, 1);
    for (int64_t i = 0; i < layers; ++i) {
      writer.AddConv(name + ".enc.in_layers." + std::to_string(i), 2 * hidden, hidden, 5);
      writer.AddConv(name + ".enc.res_skip_layers." + std::to_string(i),
                     i + 1 == layers ? hidden : 2 * hidden, hidden, 1);
    }
    if (shape.speakers > 0)
      writer.AddConv(name + ".enc.cond_layer", 2 * hidden * layers, kSpeakerChannels, 1);
  }
  int64_t channels = shape.generator;
  writer.AddConv("dec.conv_pre", channels, shape.latent, 7);
  if (shape.speakers > 0) writer.AddConv("dec.cond", channels, kSpeakerChannels, 1);
  size_t block = 0;
  for (size_t i = 0; i < shape.strides.size(); ++i) {
    const std::string up = "dec.ups." + std::to_string(i);
    writer.Add(up + ".weight", {channels, channels / 2, 2 * shape.strides[i]}, 2 * channels);
    channels /= 2;
    writer.Add(up + ".bias", {channels}, 100);
    for (int64_t kernel : shape.block_kernels) {
      const std::string name = "dec.resblocks." + std::to_string(block++);
      for (size_t j = 0; j < shape.block_dilations.size(); ++j) {
        const std::string layer = "." + std::to_string(j);
        writer.AddConv(name + (shape.paired ? ".convs1" : ".convs") + layer, channels, channels,
                       kernel);
        if (shape.paired) writer.AddConv(name + ".convs2" + layer, channels, channels, kernel);
      }
    }
  }
  writer.Add("dec.conv_post.weight", {1, channels, 7}, 7 * channels);
}

nlohmann::json MakeVoice(const TinyVits& shape) {
  nlohmann::json phonemes;
  int64_t id = 0;
  for (const char* phoneme :
       {"_", "^", "$", " ", "!", ",", ".",      ":",      ";",      "?",      "a",     "b",
        "d", "e", "f", "h", "i", "j", "k",      "l",      "m",      "n",      "o",     "p",
        "s", "t", "u", "v", "w", "z", "\u0259", "\u028a", "\u02c8", "\u02d0", "\u0279"}) {
    phonemes[phoneme] = {id++};
  }
  nlohmann::json speakers = nlohmann::json::object();
  for (int64_t i = 0; i < shape.speakers; ++i) speakers["speaker" + std::to_string(i)] = i;
  return {{"audio", {{"sample_rate", 16000}}},
          {"phoneme_type", shape.reads_letters ? "text" : "espeak"},
          {"espeak", {{"voice", "en-us"}}},
          {"inference", {{"noise_scale", 0.5}, {"length_scale", 1.0}, {"noise_w", 0.25}}},
          {"phoneme_id_map", phonemes},
          {"num_speakers", std::max<int64_t>(1, shape.speakers)},
          {"speaker_id_map", speakers}};
}

}  // namespace

void WriteTinyVits(const std::filesystem::path& folder, const TinyVits& shape) {
  Writer writer(shape);
  AddEncoder(shape, writer);
  AddDecoder(shape, writer);
  if (shape.speakers > 0) {
    writer.Add("emb_g.weight", {shape.speakers, kSpeakerChannels}, 1);
    writer.AddConv("dp.cond", shape.hidden, kSpeakerChannels, 1);
  }
  std::string blocks;
  for (size_t i = 0; i < shape.strides.size() * shape.block_kernels.size(); ++i) {
    blocks += (i == 0 ? "" : ";") + Join(shape.block_dilations);
  }
  writer.Write(folder / "model.safetensors", {{"upsample_strides", Join(shape.strides)},
                                              {"flow_dilations", Join(shape.flow_dilations)},
                                              {"block_dilations", blocks}});
  std::ofstream(folder / "voice.json") << MakeVoice(shape);
}

}  // namespace millrace::vits
