"""Translates sentences over gRPC and prints each as soon as it is done. Needs grpcio-tools.

Usage: grpc_translate.py [ADDRESS]
"""

import pathlib
import sys

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "proto"))
messages, services = grpc.protos_and_services("millrace/v1/translation.proto")

address = sys.argv[1] if len(sys.argv) > 1 else "localhost:8001"
request = messages.TranslateRequest(
    texts=["Good morning. The train is late. We will wait for it in the café."], source_language="en", target_language="pt")
with grpc.insecure_channel(address) as channel:
    stub = services.TranslationServiceStub(channel)
    try:
        for reply in stub.StreamTranslate(request, timeout=30):
            print(reply.text, flush=True)
    except grpc.RpcError as error:
        sys.exit(f"{error.code().name}: {error.details()}")
