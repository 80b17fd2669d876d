#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "millrace/config/v1/model.pb.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"
#include "models/repository/model_config.h"
#include "models/text/multilingual/espeak_language.h"

namespace millrace::models {
namespace {

namespace pb = google::protobuf;
namespace v1 = millrace::config::v1;

constexpr size_t kMaxReportedErrors = 8;
constexpr size_t kMaxTensors = 256;
constexpr int kMaxRank = 32;
constexpr size_t kMaxWarmupSizes = 64;
constexpr int64_t kMaxWarmupSize = 65'536;
// Bounds a tensor, and all inputs of the warm-up together; a gRPC message cannot hold more than
// twice that.
constexpr int64_t kMaxTensorBytes = int64_t{1} << 30;
constexpr size_t kMaxVoices = 256;

// Collects one line per mistake, as "<source>:<line>:<column>: <message>".
class Errors final : public pb::io::ErrorCollector {
 public:
  explicit Errors(std::string_view source) : source_(source) {}

// Protobuf 22 renamed the callback and changed the type of its message.
#if GOOGLE_PROTOBUF_VERSION >= 4022000
  void RecordError(int line, pb::io::ColumnNumber column, absl::string_view message) override {
    Add(line, column, std::string(message));
  }
#else
  void AddError(int line, pb::io::ColumnNumber column, const std::string& message) override {
    Add(line, column, message);
  }
#endif

  // line and column count from 0; a negative line means that the place is unknown.
  void Add(int line, int column, const std::string& message) {
    if (lines_.size() >= kMaxReportedErrors) return;
    if (line < 0) {
      lines_.push_back(absl::StrCat(source_, ": ", message));
    } else {
      lines_.push_back(absl::StrCat(source_, ":", line + 1, ":", column + 1, ": ", message));
    }
  }

  bool empty() const { return lines_.empty(); }
  absl::Status ToStatus() const { return absl::InvalidArgumentError(absl::StrJoin(lines_, "\n")); }

 private:
  const std::string source_;
  std::vector<std::string> lines_;
};

// One message of the file while its values are checked: knows where each field stands in the text.
class Section {
 public:
  Section(const pb::Message& message, pb::TextFormat::ParseInfoTree* tree, std::string path,
          pb::TextFormat::ParseLocation place, Errors& errors)
      : message_(message), tree_(tree), path_(std::move(path)), place_(place), errors_(errors) {}

  // index only for a field that is repeated.
  Section Child(const pb::Message& child, const char* field, int index = -1) const {
    auto* tree = tree_ == nullptr ? nullptr : tree_->GetTreeForNested(Field(field), index);
    return Section(child, tree, Path(field, index), Place(field, index), errors_);
  }

  void Error(const char* field, const std::string& what, int index = -1) const {
    const pb::TextFormat::ParseLocation place = Place(field, index);
    errors_.Add(place.line, place.column, absl::StrCat(Path(field, index), ": ", what));
  }

  template <class T>
  void Range(const char* field, T value, T low, T high) const {
    if (!(value >= low && value <= high)) {
      Error(field, absl::StrCat(value, " is out of range, allowed ", low, "..", high));
    }
  }

  void Text(const char* field, const std::string& value, size_t max_length = 128) const {
    if (value.empty() || value.size() > max_length) {
      Error(field,
            value.empty()
                ? absl::StrCat("is missing, allowed 1..", max_length, " characters")
                : absl::StrCat("has ", value.size(), " characters, allowed 1..", max_length));
    }
  }

  void FileName(const char* field, const std::string& value) const {
    Text(field, value, 255);
    if (value == "." || value == ".." ||
        value.find_first_of(std::string_view("/\\\0", 3)) != value.npos) {
      Error(field, absl::StrCat("'", value,
                                "' may not leave the model's folder, allowed is the plain "
                                "name of a file in it"));
    }
  }

 private:
  const pb::FieldDescriptor* Field(const char* name) const {
    return message_.GetDescriptor()->FindFieldByName(name);
  }
  std::string Path(const char* field, int index) const {
    return absl::StrCat(path_, path_.empty() ? "" : ".", field,
                        index < 0 ? "" : absl::StrCat("[", index, "]"));
  }

  // Of the field, or of its section when the text does not have it.
  pb::TextFormat::ParseLocation Place(const char* name, int index) const {
    if (tree_ == nullptr) return place_;
    const pb::FieldDescriptor* field = Field(name);
    const auto place = tree_->GetLocation(field, field->is_repeated() ? std::max(index, 0) : -1);
    return place.line < 0 ? place_ : place;
  }

  const pb::Message& message_;
  pb::TextFormat::ParseInfoTree* tree_;  // null: the message is not in the text
  const std::string path_;
  const pb::TextFormat::ParseLocation place_;
  Errors& errors_;
};

// The bytes of a tensor with `any` in place of each -1; nullopt when they are more than allowed.
std::optional<int64_t> BytesOf(const TensorSpec& spec, int64_t any) {
  auto bytes = static_cast<int64_t>(ElementSize(spec.type));
  if (std::find(spec.shape.begin(), spec.shape.end(), 0) != spec.shape.end()) return 0;
  for (const int64_t dim : spec.shape) {
    const int64_t size = dim < 0 ? any : dim;
    if (size > kMaxTensorBytes / bytes) return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

std::string Text(const std::vector<int64_t>& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

// The inputs that the warm-up makes, all at once, which nothing else bounds.
void CheckWarmUpBytes(const TorchScriptConfig& config, const Section& section) {
  int64_t left = kMaxTensorBytes;
  for (const int64_t any :
       config.warmup_sizes.empty() ? std::vector<int64_t>{1} : config.warmup_sizes) {
    for (const TensorSpec& spec : config.inputs) {
      if (!BytesOf(spec, 1)) return;  // it has its own message
      const std::optional<int64_t> bytes = BytesOf(spec, any);
      if (!bytes || *bytes > left) {
        return section.Error(
            "inputs", absl::StrCat("are larger than the ", kMaxTensorBytes,
                                   " bytes that are allowed together, with '", spec.name, "' of ",
                                   Text(spec.shape), " and ", any, " in place of each -1"));
      }
      left -= *bytes;
    }
  }
}

std::vector<TensorSpec> ConvertTensors(const pb::RepeatedPtrField<v1::TensorSpec>& specs,
                                       const char* field, const Section& section) {
  if (specs.empty() || static_cast<size_t>(specs.size()) > kMaxTensors) {
    section.Error(field, absl::StrCat("has ", specs.size(), " entries, allowed 1..", kMaxTensors));
  }
  std::vector<TensorSpec> result;
  std::set<std::string> names;
  for (int i = 0; i < specs.size(); ++i) {
    const v1::TensorSpec& spec = specs[i];
    const Section entry = section.Child(spec, field, i);
    entry.Text("name", spec.name());
    if (!names.insert(spec.name()).second) {
      entry.Error("name", absl::StrCat("'", spec.name(), "' is used twice, each needs its own"));
    }
    TensorSpec& converted = result.emplace_back();
    converted.name = spec.name();
    const std::optional<DataType> type = ParseDataType(spec.datatype());
    if (!type || *type == DataType::kBytes) {
      entry.Error("datatype",
                  absl::StrCat("'", spec.datatype(),
                               "' is unknown, allowed BOOL, UINT8, UINT16, UINT32, UINT64, INT8, "
                               "INT16, INT32, INT64, FP16, BF16, FP32, FP64"));
    } else {
      converted.type = *type;
    }
    if (spec.shape_size() > kMaxRank) {
      entry.Error("shape",
                  absl::StrCat("has ", spec.shape_size(), " dimensions, allowed 0..", kMaxRank));
    }
    for (int d = 0; d < spec.shape_size(); ++d) {
      if (spec.shape(d) < -1) {
        entry.Error("shape",
                    absl::StrCat(spec.shape(d), " is out of range, allowed -1 (any) or more"), d);
      }
    }
    converted.shape.assign(spec.shape().begin(), spec.shape().end());
    if (!BytesOf(converted, 1)) {
      entry.Error("shape",
                  absl::StrCat(Text(converted.shape), " of ", spec.datatype(),
                               " is larger than the ", kMaxTensorBytes, " bytes that are allowed"));
    }
  }
  return result;
}

TorchScriptConfig Convert(const v1::TorchScript& message, const Section& section) {
  section.FileName("file", message.file());
  TorchScriptConfig config{
      .file = message.file(),
      .inputs = ConvertTensors(message.inputs(), "inputs", section),
      .outputs = ConvertTensors(message.outputs(), "outputs", section),
      .stack = message.stack(),
      .warmup_sizes = {message.warmup_sizes().begin(), message.warmup_sizes().end()}};
  CheckWarmUpBytes(config, section);
  for (size_t i = 0; config.stack && i < config.inputs.size(); ++i) {
    for (const int64_t dim : config.inputs[i].shape) {
      if (dim == -1) {
        section.Error("stack",
                      absl::StrCat("needs fixed shapes, but inputs[", i, "].shape has -1"));
      }
    }
  }
  const auto has_any = [](const TensorSpec& spec) {
    return std::find(spec.shape.begin(), spec.shape.end(), -1) != spec.shape.end();
  };
  if (config.warmup_sizes.size() > kMaxWarmupSizes) {
    section.Error("warmup_sizes", absl::StrCat("has ", config.warmup_sizes.size(),
                                               " entries, allowed 0..", kMaxWarmupSizes));
  } else if (!config.warmup_sizes.empty() &&
             std::none_of(config.inputs.begin(), config.inputs.end(), has_any)) {
    section.Error("warmup_sizes", "stand for -1 in the inputs' shapes, but there is none");
  }
  for (int i = 0; i < message.warmup_sizes_size(); ++i) {
    const int64_t size = message.warmup_sizes(i);
    if (size < 1 || size > kMaxWarmupSize) {
      section.Error("warmup_sizes",
                    absl::StrCat(size, " is out of range, allowed 1..", kMaxWarmupSize), i);
    }
  }
  return config;
}

template <typename Message>
SpeechPauses ConvertPauses(const Message& message, const Section& section) {
  constexpr float kMaxPause = 10;
  SpeechPauses pauses;
  if (message.has_sentence_pause_seconds()) {
    section.Range("sentence_pause_seconds", message.sentence_pause_seconds(), 0.0F, kMaxPause);
    pauses.sentence = message.sentence_pause_seconds();
  }
  if (message.has_paragraph_pause_seconds()) {
    section.Range("paragraph_pause_seconds", message.paragraph_pause_seconds(), 0.0F, kMaxPause);
    pauses.paragraph = message.paragraph_pause_seconds();
  }
  return pauses;
}

VitsConfig Convert(const v1::Vits& message, const Section& section) {
  section.Range("gain_db", message.gain_db(), -20.0F, 20.0F);
  section.FileName("file", message.file());
  section.FileName("voice_file", message.voice_file());
  section.Text("language", message.language(), 35);
  section.Text("voice", message.voice());
  return {.file = message.file(),
          .voice_file = message.voice_file(),
          .language = message.language(),
          .voice = message.voice(),
          .gain_db = message.gain_db(),
          .pauses = ConvertPauses(message, section)};
}

// The bounds that every translator has.
template <typename Message, typename Config>
void TakeLengths(const Message& message, const Section& section, Config& config) {
  if (message.max_length_factor() != 0) {
    section.Range("max_length_factor", message.max_length_factor(), 0.5F, 16.0F);
    config.max_length_factor = message.max_length_factor();
  }
  if (message.max_source_tokens() != 0) {
    section.Range("max_source_tokens", message.max_source_tokens(), 16U, 1024U);
    config.max_source_tokens = message.max_source_tokens();
  }
}

BergamotConfig Convert(const v1::Bergamot& message, const Section& section) {
  section.FileName("file", message.file());
  section.FileName("vocabulary_file", message.vocabulary_file());
  section.Text("source_language", message.source_language(), 35);
  section.Text("target_language", message.target_language(), 35);
  BergamotConfig config{.file = message.file(),
                        .vocabulary_file = message.vocabulary_file(),
                        .source_language = message.source_language(),
                        .target_language = message.target_language()};
  TakeLengths(message, section, config);
  return config;
}

kernels::Precision Convert(v1::Precision precision, const Section& section) {
  switch (precision) {
    case v1::PRECISION_UNSPECIFIED:
    case v1::PRECISION_FLOAT32:
      return kernels::Precision::kFloat32;
    case v1::PRECISION_BFLOAT16:
      return kernels::Precision::kBfloat16;
    case v1::PRECISION_INT8:
      return kernels::Precision::kInt8;
    default:
      section.Error("precision", absl::StrCat(static_cast<int>(precision),
                                              " is unknown, allowed are PRECISION_FLOAT32, "
                                              "PRECISION_BFLOAT16 and PRECISION_INT8"));
      return kernels::Precision::kFloat32;
  }
}

Seq2SeqModelConfig Convert(const v1::Seq2Seq& message, const Section& section) {
  section.FileName("file", message.file());
  section.FileName("config_file", message.config_file());
  section.FileName("pieces_file", message.pieces_file());
  section.FileName("words_file", message.words_file());
  if (!message.target_words_file().empty())
    section.FileName("target_words_file", message.target_words_file());
  if (!message.target_pieces_file().empty())
    section.FileName("target_pieces_file", message.target_pieces_file());
  section.Text("source_language", message.source_language(), 35);
  section.Text("target_language", message.target_language(), 35);
  Seq2SeqModelConfig config{.file = message.file(),
                            .config_file = message.config_file(),
                            .pieces_file = message.pieces_file(),
                            .words_file = message.words_file(),
                            .target_words_file = message.target_words_file(),
                            .target_pieces_file = message.target_pieces_file(),
                            .source_language = message.source_language(),
                            .target_language = message.target_language(),
                            .early_stopping = message.early_stopping()};
  TakeLengths(message, section, config);
  if (message.beam_size() != 0) {
    section.Range("beam_size", message.beam_size(), 1U, 16U);
    config.beam_size = static_cast<int>(std::min(message.beam_size(), 16U));
  }
  if (message.has_length_penalty()) {
    section.Range("length_penalty", message.length_penalty(), -10.0F, 10.0F);
    config.length_penalty = message.length_penalty();
  }
  section.Range("no_repeat_ngram_size", message.no_repeat_ngram_size(), 0U, 64U);
  config.no_repeat_ngram_size = static_cast<int>(std::min(message.no_repeat_ngram_size(), 64U));
  if (message.repetition_penalty() != 0) {
    section.Range("repetition_penalty", message.repetition_penalty(), 0.01F, 100.0F);
    config.repetition_penalty = message.repetition_penalty();
  }
  config.precision = Convert(message.precision(), section);
  return config;
}

std::vector<KokoroVoiceConfig> ConvertVoices(const v1::Kokoro& message, const Section& section) {
  if (static_cast<size_t>(message.voices_size()) > kMaxVoices) {
    section.Error("voices",
                  absl::StrCat("has ", message.voices_size(), " entries, allowed 0..", kMaxVoices));
  }
  std::vector<KokoroVoiceConfig> voices;
  std::set<std::string> names;
  std::set<std::string> languages;  // that have a default
  for (int i = 0; i < message.voices_size(); ++i) {
    const v1::KokoroVoice& voice = message.voices(i);
    const Section entry = section.Child(voice, "voices", i);
    entry.Text("name", voice.name());
    entry.Text("language", voice.language(), 35);
    if (!names.insert(voice.name()).second)
      entry.Error("name", absl::StrCat("'", voice.name(), "' is used twice, each needs its own"));
    for (int j = 0; j < voice.default_for_size(); ++j) {
      if (voice.default_for(j).empty() || voice.default_for(j).size() > 35) {
        entry.Error("default_for",
                    absl::StrCat("'", voice.default_for(j), "' is no language, allowed 1..35 ",
                                 "characters"),
                    j);
      } else if (!languages.insert(voice.default_for(j)).second) {
        entry.Error("default_for",
                    absl::StrCat("'", voice.default_for(j), "' has two voices, allowed is one"), j);
      }
    }
    voices.push_back({.name = voice.name(),
                      .language = voice.language(),
                      .default_for = {voice.default_for().begin(), voice.default_for().end()}});
  }
  return voices;
}

KokoroConfig Convert(const v1::Kokoro& message, const Section& section) {
  section.FileName("file", message.file());
  section.FileName("config_file", message.config_file());
  section.FileName("lexicon_file", message.lexicon_file());
  if (!message.user_lexicon_file().empty())
    section.FileName("user_lexicon_file", message.user_lexicon_file());
  if (message.language() != "en-US" && message.language() != "en-GB" &&
      FindEspeakLanguage(message.language()) == nullptr) {
    std::string allowed = "en-US, en-GB";
    for (const EspeakLanguage& language : kEspeakLanguages)
      absl::StrAppend(&allowed, ", ", View(language.tag));
    section.Error("language",
                  absl::StrCat("'", message.language(), "' is unknown, allowed ", allowed));
  }
  if (message.voice().size() > 128) {
    section.Error("voice",
                  absl::StrCat("has ", message.voice().size(), " characters, allowed 0..128"));
  }
  return {.file = message.file(),
          .config_file = message.config_file(),
          .language = message.language(),
          .voice = message.voice(),
          .lexicon_file = message.lexicon_file(),
          .user_lexicon_file = message.user_lexicon_file(),
          .voices = ConvertVoices(message, section),
          .pauses = ConvertPauses(message, section)};
}

BatchPolicy Convert(const v1::Batching& message, const Section& section) {
  section.Range("max_batch", message.max_batch(), 0U, 1024U);
  section.Range("linger_us", message.linger_us(), 0U, 1'000'000U);
  section.Range("queue_size", message.queue_size(), 0U, 65536U);
  return {.max_batch = message.max_batch(),
          .linger = std::chrono::microseconds(message.linger_us()),
          .queue_size = message.queue_size()};
}

}  // namespace

absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view text, std::string_view source) {
  Errors errors(source);
  pb::TextFormat::ParseInfoTree tree;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  parser.WriteLocationsTo(&tree);
  v1::ModelConfig message;
  if (!parser.ParseFromString(std::string(text), &message)) {
    if (errors.empty()) errors.Add(-1, 0, "is not Protobuf text format");
    return errors.ToStatus();
  }

  const Section top(message, &tree, "", pb::TextFormat::ParseLocation(), errors);
  ModelConfig config;
  config.license = message.license();
  if (config.license.size() > 256) {
    top.Error("license",
              absl::StrCat("has ", config.license.size(), " characters, allowed 0..256"));
  }
  if (message.has_batching()) {
    config.batching = Convert(message.batching(), top.Child(message.batching(), "batching"));
  }
  switch (message.kind_case()) {
    case v1::ModelConfig::kTorchscript:
      config.kind = Convert(message.torchscript(), top.Child(message.torchscript(), "torchscript"));
      break;
    case v1::ModelConfig::kVits:
      config.kind = Convert(message.vits(), top.Child(message.vits(), "vits"));
      break;
    case v1::ModelConfig::kBergamot:
      config.kind = Convert(message.bergamot(), top.Child(message.bergamot(), "bergamot"));
      break;
    case v1::ModelConfig::kKokoro:
      config.kind = Convert(message.kokoro(), top.Child(message.kokoro(), "kokoro"));
      break;
    case v1::ModelConfig::kSeq2Seq:
      config.kind = Convert(message.seq2seq(), top.Child(message.seq2seq(), "seq2seq"));
      break;
    case v1::ModelConfig::KIND_NOT_SET:
      errors.Add(-1, 0,
                 "no kind of model is given, allowed is exactly one of torchscript, vits, "
                 "bergamot, kokoro, seq2seq");
      break;
  }
  if (!errors.empty()) return errors.ToStatus();
  return config;
}

absl::StatusOr<ModelConfig> ReadModelConfig(const std::filesystem::path& file) {
  const absl::StatusOr<std::string> text = ReadRegularFile(file, kMaxConfigBytes);
  if (!text.ok()) return text.status();
  return ParseModelConfig(*text, file.string());
}

}  // namespace millrace::models
