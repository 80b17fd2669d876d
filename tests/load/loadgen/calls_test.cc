#include "tests/load/loadgen/calls.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "millrace/v1/translation.grpc.pb.h"
#include "tests/load/loadgen/runner.h"

namespace millrace::loadgen {
namespace {

// Gives translations of `tokens` tokens to those that force a length, whatever length that is.
class FixedLength final : public v1::TranslationService::Service {
 public:
  explicit FixedLength(int64_t tokens) : tokens_(tokens) {}

  grpc::Status Translate(grpc::ServerContext* /*context*/, const v1::TranslateRequest* request,
                         v1::TranslateResponse* response) override {
    v1::Translation& translation = *response->add_translations();
    translation.set_text(request->texts(0));
    const v1::TranslateSearch& search = request->search();
    const bool is_forced = search.min_target_tokens() == search.max_target_tokens();
    translation.set_target_tokens(is_forced ? tokens_ : 0);
    return grpc::Status::OK;
  }

 private:
  const int64_t tokens_;
};

// Wrong translations of two texts that were to have 5 and 6 tokens.
uint64_t WrongOf(int64_t tokens) {
  FixedLength service(tokens);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();

  Options options;
  options.address = "127.0.0.1:" + std::to_string(port);
  options.method = Method::kTranslate;
  options.texts = {"One.", "Two."};
  options.target_tokens = {5, 6};
  options.count = 2;
  Recorder recorder(std::chrono::steady_clock::now(), options.duration);
  Outputs outputs;
  Runner(options, *MakeCaller(options, recorder, outputs), recorder).Run();
  EXPECT_EQ(recorder.status(grpc::OK).latency.count(), 2U);
  return recorder.wrong();
}

TEST(TranslateCalls, TranslationsOfOtherLengthsThanAskedForAreWrong) {
  EXPECT_EQ(WrongOf(5), 1U);
  EXPECT_EQ(WrongOf(7), 2U);
}

}  // namespace
}  // namespace millrace::loadgen
