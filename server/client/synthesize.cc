#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <vector>

#include "millrace/v1/synthesis.grpc.pb.h"
#include "models/synthesis/audio_encoding.h"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/config/command_line.h"

namespace millrace {

int RunSynthesize(const SynthesizeCommand& command) {
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  v1::SynthesizeRequest request;
  request.set_model(command.model);
  request.set_voice(command.voice);
  request.set_text(TextOrInput(command.text));
  request.set_speed(command.speed);
  request.set_encoding(v1::AUDIO_ENCODING_PCM_F32LE);
  grpc::ClientContext context;
  Prepare(command.client, context);

  const auto start = std::chrono::steady_clock::now();
  const auto since_start = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto reader = v1::SynthesisService::NewStub(*channel)->StreamSynthesize(&context, request);
  std::vector<float> samples;
  double first_audio = 0;
  int sample_rate = 0;
  v1::StreamSynthesizeResponse message;
  while (reader->Read(&message)) {
    if (samples.empty()) first_audio = since_start();
    sample_rate = static_cast<int>(message.sample_rate());
    const size_t count = message.audio().size() / sizeof(float);
    samples.resize(samples.size() + count);
    std::memcpy(samples.data() + samples.size() - count, message.audio().data(),
                count * sizeof(float));
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return Fail(Explain(status, command.client));
  if (samples.empty() || sample_rate <= 0) return Fail("the server sent no audio");

  // The header holds the length, so the file is made when all is there.
  const std::string wav = models::EncodeAudio(samples, sample_rate, models::AudioFormat::kWav);
  if (command.output == "-") {
    std::cout.write(wav.data(), static_cast<std::streamsize>(wav.size())).flush();
    if (!std::cout) return Fail("standard output cannot be written");
  } else {
    std::ofstream file(command.output, std::ios::binary);
    file.write(wav.data(), static_cast<std::streamsize>(wav.size()));
    file.close();
    if (!file) return Fail(command.output + ": cannot be written");
  }
  std::fprintf(stderr, "%s: %.2f s of audio, first after %.0f ms, all after %.0f ms\n",
               command.output.c_str(), static_cast<double>(samples.size()) / sample_rate,
               first_audio * 1000, since_start() * 1000);
  return kExitOk;
}

}  // namespace millrace
