"""Millrace on Ray Serve: each replica of a deployment starts one daemon and forwards gRPC and HTTP to it."""
