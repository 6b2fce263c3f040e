"""The objectives that embedlab ships, one file a training signal: options, needs, and the loss."""
