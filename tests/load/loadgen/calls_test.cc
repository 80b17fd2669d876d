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
    translation.set_target_tokens(TokensOf(*request));
    return grpc::Status::OK;
  }

  // As words are decided: the tokens are told with the last of them.
  grpc::Status StreamTranslate(grpc::ServerContext* /*context*/,
                               const v1::TranslateRequest* request,
                               grpc::ServerWriter<v1::StreamTranslateResponse>* writer) override {
    v1::StreamTranslateResponse part;
    part.set_text(request->texts(0));
    if (request->partial()) writer->Write(part);
    part.set_target_tokens(TokensOf(*request));
    writer->Write(part);
    return grpc::Status::OK;
  }

 private:
  int64_t TokensOf(const v1::TranslateRequest& request) const {
    const v1::TranslateSearch& search = request.search();
    return search.min_target_tokens() == search.max_target_tokens() ? tokens_ : 0;
  }

  const int64_t tokens_;
};

// Wrong translations of two texts that were to have 5 and 6 tokens.
uint64_t WrongOf(Method method, int64_t tokens) {
  FixedLength service(tokens);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();

  Options options;
  options.address = "127.0.0.1:" + std::to_string(port);
  options.method = method;
  options.texts = {"One.", "Two."};
  options.target_tokens = {5, 6};
  options.count = 2;
  Recorder recorder(std::chrono::steady_clock::now(), options.duration);
  Outputs outputs;
  Runner(options, *MakeCaller(options, recorder, outputs), recorder).Run();
  EXPECT_EQ(recorder.status(grpc::OK).latency.count(), 2U);
  EXPECT_EQ(recorder.first_text().count(), method == Method::kStreamTranslate ? 2U : 0U);
  return recorder.wrong();
}

TEST(TranslateCallsTest, TranslationsOfOtherLengthsThanAskedForAreWrong) {
  for (const Method method : {Method::kTranslate, Method::kStreamTranslate}) {
    EXPECT_EQ(WrongOf(method, 5), 1U);
    EXPECT_EQ(WrongOf(method, 7), 2U);
  }
}

}  // namespace
}  // namespace millrace::loadgen
