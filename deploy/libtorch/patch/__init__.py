"""Edits a checkout of PyTorch so that several threads can run its MPS backend at once: python -m deploy.libtorch.patch --help"""
