// Measures forwards a second against the number of threads, with one mutex around the forward
// ("serial"), a stream for each thread of which one at a time submits ("encode-lock"), a stream for
// each thread ("eager"), or a stream and a graph cache for each thread ("cached"). A thread waits
// for each forward. Input and output are on the device, or on the host for the modes "...-host", as
// with a request. Prints one JSON object a line:
//   {"model": "mlp-512", "mode": "cached", "threads": 8, "forwards_per_s": 1234.5, "differ": 0}
// "differ" counts the threads whose last output is not that of the main thread alone, bit for bit.
// Repeats are interleaved, so that a drift of the machine affects all modes alike; each line is a
// repeat.
//
// Usage: millrace_scaling DEVICE SECONDS REPEATS THREADS...
#include <ATen/TensorOperators.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "mps_runtime/cached_forward.h"
#include "mps_runtime/linear.h"
#include "mps_runtime/runtime.h"

namespace millrace::runtime {
namespace {

struct Model {
  std::string name;
  std::vector<at::Tensor> inputs;
  Forward forward;
  std::vector<at::Tensor> outputs = {};  // the main thread's alone, on the host
};

Model Mlp(at::Device device, int layers, int64_t width) {
  std::vector<at::Tensor> weights;
  for (int i = 0; i < layers; ++i) {
    weights.push_back(
        (at::randn({width, width}) / std::sqrt(static_cast<double>(width))).to(device));
  }
  return {"mlp-" + std::to_string(width),
          {at::randn({1, width}).to(device)},
          [weights](const std::vector<at::Tensor>& inputs) {
            at::Tensor x = inputs[0];
            for (const at::Tensor& weight : weights) x = at::relu(Linear(x, weight));
            return std::vector<at::Tensor>{x};
          }};
}

Model OneLinear(at::Device device, int64_t width) {
  const at::Tensor weight =
      (at::randn({width, width}) / std::sqrt(static_cast<double>(width))).to(device);
  const at::Tensor bias = at::randn({width}).to(device);
  return {"linear-" + std::to_string(width),
          {at::randn({1, width}).to(device)},
          [weight, bias](const std::vector<at::Tensor>& inputs) {
            return std::vector<at::Tensor>{Linear(inputs[0], weight, bias)};
          }};
}

// Makes residual convolutions as in a vocoder.
Model ConvStack(at::Device device) {
  std::vector<at::Tensor> weights;
  for (int i = 0; i < 6; ++i) weights.push_back((at::randn({64, 64, 5}) / 18).to(device));
  return {"conv-stack",
          {at::randn({1, 64, 400}).to(device)},
          [weights](const std::vector<at::Tensor>& inputs) {
            at::Tensor x = inputs[0];
            for (const at::Tensor& weight : weights)
              x = x + at::conv1d(at::leaky_relu(x, 0.1), weight, {}, 1, 2);
            return std::vector<at::Tensor>{x};
          }};
}

// Makes the generator of a medium-quality Piper voice over 64 frames, which is three quarters of a
// second.
Model VitsGenerator(at::Device device) {
  struct Stage {
    int64_t stride = 0;
    at::Tensor up;
    std::vector<at::Tensor> convs;  // two of each residual block, the blocks in order
  };
  constexpr int64_t kLatent = 192, kFrames = 64, kTaps = 7;
  constexpr int64_t kKernels[] = {3, 5, 7};
  constexpr int64_t kDilations[][2] = {{1, 2}, {2, 6}, {3, 12}};
  const auto weight = [&](int64_t from, int64_t to, int64_t taps) {
    return (at::randn({from, to, taps}) / std::sqrt(static_cast<double>(to * taps))).to(device);
  };
  int64_t channels = 256;
  const at::Tensor pre = weight(channels, kLatent, kTaps);
  std::vector<Stage> stages;
  for (const int64_t stride : {8, 8, 4}) {
    Stage stage{stride, weight(channels, channels / 2, 2 * stride), {}};
    channels /= 2;
    for (const int64_t taps : kKernels) {
      for (int i = 0; i < 2; ++i) stage.convs.push_back(weight(channels, channels, taps));
    }
    stages.push_back(std::move(stage));
  }
  const at::Tensor post = weight(1, channels, kTaps);
  return {"vits-generator",
          {at::randn({1, kLatent, kFrames}).to(device)},
          [=](const std::vector<at::Tensor>& inputs) {
            at::Tensor x = at::conv1d(inputs[0], pre, {}, 1, kTaps / 2);
            for (const Stage& stage : stages) {
              x = at::conv_transpose1d(at::leaky_relu(x, 0.1), stage.up, {}, stage.stride,
                                       stage.stride / 2);
              at::Tensor sum;
              for (size_t block = 0; block < std::size(kKernels); ++block) {
                at::Tensor y = x;
                for (size_t i = 0; i < 2; ++i) {
                  const int64_t dilation = kDilations[block][i];
                  y = y + at::conv1d(at::leaky_relu(y, 0.1), stage.convs[2 * block + i], {}, 1,
                                     (kKernels[block] - 1) * dilation / 2, dilation);
                }
                sum = block == 0 ? y : sum + y;
              }
              x = sum / 3;
            }
            return std::vector<at::Tensor>{
                at::tanh(at::conv1d(at::leaky_relu(x, 0.01), post, {}, 1, kTaps / 2))};
          }};
}

// Makes one step of a six-layer translation decoder at batch 1: self-attention over 32 steps,
// attention over 32 source words, a feed-forward part, and the logits.
Model DecoderStep(at::Device device) {
  constexpr int64_t kDim = 512, kHeads = 8, kLength = 32, kWords = 32000;
  struct Layer {
    at::Tensor qkv, out, query, cross_out, up, down, keys, values, source_keys, source_values;
  };
  const auto weight = [&](int64_t rows, int64_t columns) {
    return (at::randn({rows, columns}) / std::sqrt(static_cast<double>(columns))).to(device);
  };
  const auto memory = [&] { return at::randn({1, kHeads, kLength, kDim / kHeads}).to(device); };
  std::vector<Layer> layers;
  for (int i = 0; i < 6; ++i) {
    layers.push_back({weight(3 * kDim, kDim), weight(kDim, kDim), weight(kDim, kDim),
                      weight(kDim, kDim), weight(4 * kDim, kDim), weight(kDim, 4 * kDim), memory(),
                      memory(), memory(), memory()});
  }
  const at::Tensor words = weight(kWords, kDim);
  const auto attend = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    const at::Tensor heads = q.view({1, kHeads, 1, kDim / kHeads});
    return at::softmax(heads.matmul(k.transpose(-1, -2)) * 0.125, -1).matmul(v).view({1, kDim});
  };
  return {"decoder-step",
          {at::randn({1, kDim}).to(device)},
          [=](const std::vector<at::Tensor>& inputs) {
            at::Tensor x = inputs[0];
            for (const Layer& layer : layers) {
              const at::Tensor qkv = Linear(x, layer.qkv);
              x = x + Linear(attend(qkv.narrow(1, 0, kDim), layer.keys, layer.values), layer.out);
              x = x + Linear(attend(Linear(x, layer.query), layer.source_keys, layer.source_values),
                             layer.cross_out);
              x = x + Linear(at::relu(Linear(x, layer.up)), layer.down);
            }
            return std::vector<at::Tensor>{Linear(x, words).argmax(1)};
          }};
}

struct Mode {
  const char* name;
  ForwardMode mode;
  bool cached;
  bool on_host;
};
constexpr Mode kModes[] = {{"serial", ForwardMode::kSerial, false, false},
                           {"encode-lock", ForwardMode::kEncodeLock, false, false},
                           {"eager", ForwardMode::kParallel, false, false},
                           {"cached", ForwardMode::kParallel, true, false},
                           {"serial-host", ForwardMode::kSerial, false, true},
                           {"eager-host", ForwardMode::kParallel, false, true},
                           {"cached-host", ForwardMode::kParallel, true, true}};

std::vector<at::Tensor> Moved(const std::vector<at::Tensor>& tensors, at::Device where) {
  std::vector<at::Tensor> moved;
  moved.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) moved.push_back(tensor.to(where));
  return moved;
}

struct Rate {
  double forwards_per_s = 0;
  int differ = 0;
};

bool SameBits(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const at::Tensor& x, const at::Tensor& y) { return at::equal(x, y); });
}

Rate Measure(DeviceType device, const Model& model, const Mode& mode, int threads,
             std::chrono::duration<double> seconds) {
  RuntimeOptions options;
  options.device = device;
  options.workers = threads;
  options.mode = mode.mode;
  options.max_in_flight = threads;
  options.accept_unsafe_concurrency = true;
  options.intra_op_threads = 1;
  const auto runtime = Runtime::Bootstrap(options);
  std::barrier start(threads + 1);
  std::atomic<bool> stop{false};
  std::atomic<int64_t> forwards{0};
  std::atomic<int> differ{0};
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      const auto context = runtime->EnterWorker();
      const std::vector<at::Tensor> inputs =
          mode.on_host ? Moved(model.inputs, at::kCPU) : model.inputs;
      const at::Device where = model.inputs[0].device();
      const auto run = [&] {
        const ForwardScope scope(*runtime, *context);
        const GraphKey key{.model = model.name, .entry_point = "forward"};
        std::vector<at::Tensor> outputs;
        if (mode.cached && mode.on_host) {
          outputs = RunCachedOnHost(*context, key, inputs, model.forward);
        } else if (mode.cached) {
          outputs = RunCached(*context, key, inputs, model.forward);
        } else if (mode.on_host) {
          outputs = Moved(model.forward(Moved(inputs, where)), at::kCPU);
        } else {
          outputs = model.forward(inputs);
        }
        if (!mode.on_host) context->Synchronize();  // the other modes have waited for their copies
        return outputs;
      };
      for (int warm_up = 0; warm_up < 10; ++warm_up) run();
      start.arrive_and_wait();
      int64_t done = 0;
      for (; !stop.load(std::memory_order_relaxed); ++done) run();
      forwards += done;
      const std::vector<at::Tensor> last = run();
      const ForwardScope scope(*runtime, *context);
      if (!SameBits(Moved(last, at::kCPU), model.outputs)) ++differ;
    });
  }
  start.arrive_and_wait();
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(seconds);  // the measured time: the workers run meanwhile
  stop = true;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (std::thread& worker : workers) worker.join();
  return {static_cast<double>(forwards) / took.count(), differ};
}

int Main(int argc, char** argv) {
  const auto device = argc >= 5 ? ParseDeviceType(argv[1]) : std::nullopt;
  const double seconds = argc >= 5 ? std::atof(argv[2]) : 0;
  const int repeats = argc >= 5 ? std::atoi(argv[3]) : 0;
  if (!device || seconds <= 0 || repeats < 1) {
    std::fprintf(stderr, "usage: millrace_scaling cpu|cuda|mps SECONDS REPEATS THREADS...\n");
    return 2;
  }
  std::vector<Model> models;
  {
    RuntimeOptions options;
    options.device = device;
    options.intra_op_threads = 1;
    const auto runtime = Runtime::Bootstrap(options);
    const auto context = runtime->EnterMainThread();
    const ForwardScope scope(*runtime, *context);
    const at::Device where{std::string(ToString(*device))};
    models = {Mlp(where, 8, 512), OneLinear(where, 256), OneLinear(where, 1024),
              ConvStack(where),   VitsGenerator(where),  DecoderStep(where)};
    for (Model& model : models) model.outputs = Moved(model.forward(model.inputs), at::kCPU);
    context->Synchronize();
  }
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const Model& model : models) {
      for (int i = 4; i < argc; ++i) {
        const int threads = std::atoi(argv[i]);
        for (const Mode& mode : kModes) {
          if (mode.on_host && *device == DeviceType::kCpu) continue;  // all of them are
          const Rate rate =
              Measure(*device, model, mode, threads, std::chrono::duration<double>(seconds));
          std::printf(
              "{\"model\": \"%s\", \"mode\": \"%s\", \"threads\": %d, "
              "\"forwards_per_s\": %.1f, \"differ\": %d}\n",
              model.name.c_str(), mode.name, threads, rate.forwards_per_s, rate.differ);
          std::fflush(stdout);
        }
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace millrace::runtime

int main(int argc, char** argv) {
  try {
    return millrace::runtime::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millrace_scaling: %s\n", error.what());
    return 1;
  }
}
