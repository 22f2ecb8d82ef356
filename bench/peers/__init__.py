"""What we are compared with: scripts that a Python which has PyTorch or ONNX Runtime runs."""
