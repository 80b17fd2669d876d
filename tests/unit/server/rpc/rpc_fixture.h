#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/sync_stream.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "millrace/v1/synthesis.pb.h"
#include "server/rpc/byte_call.h"
#include "server/rpc/grpc_buffer.h"
#include "server/rpc/rpc_server.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

// The methods of a service that has one of each kind. What they carry here is bytes.
constexpr char kUnary[] = "/millrace.v1.SynthesisService/Synthesize";
constexpr char kReplies[] = "/millrace.v1.SynthesisService/StreamSynthesize";
constexpr char kBothWays[] = "/millrace.v1.SynthesisService/SynthesizeTextStream";

// Waits for what another thread is about to do; the test's time limit is the bound.
inline void Await(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

inline grpc::ByteBuffer Bytes(std::string_view text) {
  const grpc::Slice slice(text.data(), text.size());
  return grpc::ByteBuffer(&slice, 1);
}

inline std::string Text(const grpc::ByteBuffer& bytes) {
  std::string result;
  std::vector<grpc::Slice> slices;
  if (bytes.Length() == 0 || !bytes.Dump(&slices).ok()) return result;
  for (const grpc::Slice& slice : slices)
    result.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return result;
}

inline std::string Text(const ByteBuffer& bytes) { return Text(ToGrpc(bytes)); }

inline void Echo(ByteCall& rpc) { rpc.Finish(rpc.request()); }

// Counts what it is told; must live until OnDone.
class Recorder : public ByteCall::Handler {
 public:
  void OnCancel() override { ++cancels; }
  void OnDone() override { ++dones; }  // nothing after it: the test may be over
  void AwaitDone() {
    Await([this] { return dones.load() != 0; });
  }

  std::atomic<int> cancels{0};
  std::atomic<int> dones{0};
};

constexpr size_t kLong = 100 << 10;  // such a message is begun on another thread

// A call that the test holds: it comes, and ends when the test ends it.
class HeldCall : public Recorder {
 public:
  RpcService::Function Function() {
    return [this](ByteCall& rpc) {
      rpc.SetHandler(*this);
      rpc_.set_value(&rpc);
    };
  }
  // Waits until it has come. Once.
  ByteCall& rpc() { return *rpc_.get_future().get(); }

 private:
  std::promise<ByteCall*> rpc_;
};

// A server of methods that the test gives it, on a port of its own.
class RpcTestServer {
 public:
  // By their names without the service.
  using Functions = std::vector<std::pair<std::string, RpcService::Function>>;

  // socket: the path of a Unix socket on which it listens as well; empty for none.
  explicit RpcTestServer(Functions functions, const RpcServer::Options& options = {},
                         const std::string& socket = "")
      : service_(std::move(functions)) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    if (!socket.empty())
      builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
    builder.SetMaxReceiveMessageSize(-1);
    server_ = RpcServer::Start(builder, {&service_}, options);
    address_ = "127.0.0.1:" + std::to_string(port);
    channel_ = NewChannel();
  }

  // A connection of its own, so that its flow control is its own.
  std::shared_ptr<grpc::Channel> NewChannel() const { return NewChannel(address_); }
  std::shared_ptr<grpc::Channel> NewChannel(const std::string& address) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    // The window of its flow control does not grow with what the connection seems to carry.
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1 << 20);
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }

  RpcServer& server() { return *server_; }
  grpc::Channel& channel() { return *channel_; }

 private:
  class Service final : public RpcService {
   public:
    explicit Service(Functions&& functions)
        : RpcService(v1::SynthesizeRequest::descriptor()->file()->service(0)->full_name()) {
      for (auto& [method, function] : functions) Serve(method, std::move(function));
    }
  };

  Service service_;
  std::unique_ptr<RpcServer> server_;
  std::string address_;
  std::shared_ptr<grpc::Channel> channel_;
};

// A context for one call. On a busy machine the first try to connect may fail, hence the wait.
class Context : public grpc::ClientContext {
 public:
  Context() { set_wait_for_ready(true); }
};

using grpc::internal::RpcMethod;
using Reader = std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>>;
using ReaderWriter = std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>>;

inline grpc::Status Call(grpc::Channel& channel, grpc::ClientContext& context,
                         std::string_view request, std::string* reply = nullptr,
                         const char* path = kUnary) {
  grpc::ByteBuffer bytes;
  grpc::Status status = grpc::internal::BlockingUnaryCall(
      &channel, RpcMethod(path, RpcMethod::NORMAL_RPC), &context, Bytes(request), &bytes);
  if (reply != nullptr) *reply = Text(bytes);
  return status;
}

inline grpc::Status Call(grpc::Channel& channel, std::string_view request,
                         std::string* reply = nullptr, const char* path = kUnary) {
  Context context;
  return Call(channel, context, request, reply, path);
}

// So that the time of a call with a short deadline is for the call alone.
inline void AwaitConnected(grpc::Channel& channel) {
  ASSERT_TRUE(channel.WaitForConnected(std::chrono::system_clock::now() + std::chrono::minutes(1)));
}

// The server has seen what this connection sent before.
inline void RoundTrips(grpc::Channel& channel, int count) {
  for (int i = 0; i < count; ++i) ASSERT_TRUE(Call(channel, "small").ok());
}

inline Reader StartReplies(grpc::Channel& channel, grpc::ClientContext& context,
                           std::string_view request = "x") {
  return Reader(grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(
      &channel, RpcMethod(kReplies, RpcMethod::SERVER_STREAMING), &context, Bytes(request)));
}

inline ReaderWriter StartBothWays(grpc::Channel& channel, grpc::ClientContext& context,
                                  const char* path = kBothWays) {
  return ReaderWriter(
      grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>::Create(
          &channel, RpcMethod(path, RpcMethod::BIDI_STREAMING), &context));
}

}  // namespace millrace::server
