"""A server of grpcio's own with the methods that tests/load/attacks.py calls: it has what gRPC's C core bounds by itself.

Usage: python grpc_server.py PORT
"""

import sys
from concurrent import futures

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

SERVICE = "inference.GRPCInferenceService"
ANSWERS = {"ModelInfer": b"", "ServerLive": b"\x08\x01", "ServerMetadata": b"\x0a\x40" + b"x" * 64}


def answer(data: bytes) -> grpc.RpcMethodHandler:
    return grpc.unary_unary_rpc_method_handler(lambda request, context: data)


def main() -> None:
    server = grpc.server(futures.ThreadPoolExecutor(8), options=[("grpc.max_receive_message_length", 16 << 20)])
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, {name: answer(data) for name, data in ANSWERS.items()})])
    checker = health.HealthServicer()
    checker.set("", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(checker, server)
    reflection.enable_server_reflection([health.SERVICE_NAME], server)
    server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
