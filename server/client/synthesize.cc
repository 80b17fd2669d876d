#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "millrace/v1/synthesis.grpc.pb.h"
#include "models/audio/audio_format.h"
#include "models/core/errors.h"
#include "server/client/audio_output.h"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/client/interruption.h"
#include "server/client/progress.h"
#include "server/client/speech_times.h"
#include "server/config/command_line.h"

namespace millrace {
namespace {

using models::AudioFormat;

// Returns the extension of the file's name in lower case, such as ".wav"; empty if it has none.
std::string EndingOf(const std::string& file) {
  return absl::AsciiStrToLower(std::filesystem::path(file).extension().string());
}

// Returns the format that --format names, else that of the file's extension. InvalidArgument lists
// the extensions.
absl::StatusOr<AudioFormat> FormatOf(const SynthesizeCommand& command) {
  if (const auto format = models::AudioFormatNamed(command.format)) return *format;
  const std::string ending = EndingOf(command.output);
  if (ending.empty()) return AudioFormat::kWav;
  if (ending == ".ogg") return AudioFormat::kOggOpus;
  if (ending == ".raw") return AudioFormat::kPcmS16;
  if (const auto format = models::AudioFormatNamed(ending.substr(1))) return *format;
  return InvalidArgument(
      "--output: the ending of '", command.output,
      "' names no format, allowed: .wav, .flac, .mp3, .opus or .ogg, .pcm or .raw; "
      "--format names one for any ending");
}

absl::Status CheckTimestamps(const SynthesizeCommand& command) {
  const std::string& file = command.timestamps;
  if (file.empty()) return absl::OkStatus();
  if (file == command.output) return InvalidArgument("--timestamps: is the file of --output");
  const std::string ending = EndingOf(file);
  if (ending == ".vtt" || ending == ".json") return absl::OkStatus();
  return InvalidArgument("--timestamps: the ending of '", file,
                         "' names no format, allowed: .vtt, .json");
}

v1::SpeechTextFormat TextFormatOf(const std::string& name) {
  if (name == "tags") return v1::SPEECH_TEXT_FORMAT_TAGS;
  return name == "ssml" ? v1::SPEECH_TEXT_FORMAT_SSML : v1::SPEECH_TEXT_FORMAT_UNSPECIFIED;
}

bool WriteFile(const std::string& name, const std::string& bytes) {
  std::ofstream file(name, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file.good();
}

// Returns the text of the server's warning, as `not read: Cyrillic text`; empty if there is none.
std::string WarningOf(const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("warning");
  if (found == trailers.end()) return {};
  const std::string_view value(found->second.data(), found->second.size());
  const size_t begin = value.find('"');
  const size_t end = value.rfind('"');
  if (begin == std::string_view::npos || end == begin) return {};
  return std::string(value.substr(begin + 1, end - begin - 1));
}

}  // namespace

int RunSynthesize(const SynthesizeCommand& command) {
  // This is checked before the server is called: an unknown format, or a rate that the format
  // lacks.
  const absl::StatusOr<AudioFormat> format = FormatOf(command);
  for (const absl::Status& status : {format.status(), CheckTimestamps(command)}) {
    if (status.ok()) continue;
    Fail(std::string(status.message()));
    return kExitUsage;
  }
  if (const auto rate = models::ResolveSampleRate(*format, command.sample_rate, 0); !rate.ok())
    return Fail(InTermsOfFlags(std::string(rate.status().message())));
  const absl::StatusOr<std::string> text = TextToSend(command.text, command.file);
  if (!text.ok()) return Fail(std::string(text.status().message()));
  for (const std::string& file : {command.output, command.timestamps}) {
    if (absl::Status status = CheckWritable(file); !status.ok())
      return Fail(std::string(status.message()));
  }
  Interruption interruption;
  std::unique_ptr<Player> player;
  if (command.play) {
    auto started = Player::Start();
    if (!started.ok()) return Fail(std::string(started.status().message()));
    player = *std::move(started);
  }
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  v1::SynthesizeRequest request;
  request.set_model(command.model);
  request.set_voice(command.voice);
  command.phonemes ? request.set_phonemes(*text) : request.set_text(*text);
  request.set_text_format(TextFormatOf(command.text_format));
  request.set_language(command.language);
  request.set_word_times(!command.timestamps.empty());
  request.set_phoneme_times(!command.timestamps.empty());
  request.set_speed(command.speed);
  request.set_encoding(v1::AUDIO_ENCODING_PCM_F32LE);
  grpc::ClientContext context;
  Prepare(command.client, context);
  interruption.OnSignal([&context, &player] {
    context.TryCancel();
    if (player != nullptr) player->Stop();
  });

  const auto start = std::chrono::steady_clock::now();
  const auto since_start = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto reader = v1::SynthesisService::NewStub(*channel)->StreamSynthesize(&context, request);
  std::deque<AudioOutput> outputs;
  if (!command.output.empty()) outputs.emplace_back(command.output, *format, command.sample_rate);
  if (player != nullptr)
    outputs.emplace_back(player->name(), player->TakeInput(), AudioFormat::kWav, 0);
  const AudioOutput& output = outputs.front();
  const AudioOutput* failed = nullptr;
  absl::Status written;
  const auto to_all = [&](auto action) {
    for (AudioOutput& each : outputs) {
      if (!written.ok()) return;
      written = action(each);
      if (!written.ok()) failed = &each;
    }
  };
  Progress progress;
  SpeechTimes times;
  double first_audio = 0;
  v1::StreamSynthesizeResponse message;
  std::vector<float> samples;
  while (written.ok() && reader->Read(&message)) {
    if (output.seconds() == 0) first_audio = since_start();
    samples.resize(message.audio().size() / sizeof(float));
    std::memcpy(samples.data(), message.audio().data(), samples.size() * sizeof(float));
    times.words.insert(times.words.end(), message.words().begin(), message.words().end());
    times.phonemes.insert(times.phonemes.end(), message.phonemes().begin(),
                          message.phonemes().end());
    if (message.sample_rate() == 0 || samples.empty()) continue;
    to_all([&](AudioOutput& each) {
      return each.Push(samples, static_cast<int>(message.sample_rate()));
    });
    progress.Show(absl::StrFormat("%s: %.0f s of audio so far", output.name(), output.seconds()));
  }
  if (!written.ok()) context.TryCancel();
  const grpc::Status status = reader->Finish();
  if (player == nullptr) interruption.Stop();  // a player may be heard for a while yet
  progress.Clear();
  // The output keeps what has come, whatever ended it.
  to_all([](AudioOutput& each) { return each.Close(); });
  if (player != nullptr) {
    if (failed != nullptr || output.seconds() == 0) player->Stop();
    const absl::Status played = player->Wait();
    // How it ended says more than that it took no more audio.
    if (!played.ok() && output.seconds() > 0 && (written.ok() || failed == &outputs.back()))
      written = played;
  }
  interruption.Stop();
  if (!written.ok() && interruption.signal() == 0) return Fail(std::string(written.message()));
  if (output.seconds() > 0 && !command.timestamps.empty()) {
    const bool vtt = EndingOf(command.timestamps) == ".vtt";
    if (!WriteFile(command.timestamps, vtt ? TimesAsWebVtt(times, *text) : TimesAsJson(times)))
      return Fail(command.timestamps + ": cannot be written");
  }
  const int signal = interruption.signal();
  if (!status.ok() || (signal != 0 && player != nullptr)) {
    std::string why = signal != 0 ? "interrupted" : Explain(status, command.client);
    if (output.seconds() > 0) {
      absl::StrAppend(
          &why, absl::StrFormat("; %s has the first %.2f s", output.name(), output.seconds()));
    }
    Fail(why);
    // As a shell reports a command that the signal has ended.
    return signal != 0 ? 128 + signal : kExitFailed;
  }
  if (output.seconds() == 0) return Fail("the server sent no audio");
  if (const std::string warning = WarningOf(context); !warning.empty())
    std::fprintf(stderr, "millrace: %s\n", warning.c_str());
  std::fprintf(stderr, "%s: %.2f s of audio, first after %.0f ms, all after %.0f ms\n",
               output.name().c_str(), output.seconds(), first_audio * 1000, since_start() * 1000);
  return kExitOk;
}

}  // namespace millrace
