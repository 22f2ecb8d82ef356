"""EfficientNet-Lite0 with photos: which there are, how its nights are set, and a daemon that knows both."""
