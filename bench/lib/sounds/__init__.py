"""YAMNet and other networks with sounds: which there are, how their nights are set, and a daemon that knows both."""
