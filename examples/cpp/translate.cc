// Translates a text over gRPC. Usage: translate [ADDRESS [TEXT]]
//
//   cmake -S examples/cpp -B var/example && cmake --build var/example && var/example/translate

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <iostream>
#include <string>

#include "millrace/v1/translation.grpc.pb.h"

int main(int argc, char** argv) {
  const std::string address = argc > 1 ? argv[1] : "localhost:8001";
  const auto stub = millrace::v1::TranslationService::NewStub(
      grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  millrace::v1::TranslateRequest request;
  request.add_texts(argc > 2 ? argv[2] : "Good morning.");
  request.set_source_language("en");
  request.set_target_language("pt");
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  millrace::v1::TranslateResponse response;
  const grpc::Status status = stub->Translate(&context, request, &response);
  if (!status.ok()) {
    std::cerr << status.error_message() << "\n";
    return 1;
  }
  std::cout << response.translations(0).text() << "\n";
}
