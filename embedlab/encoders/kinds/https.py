"""Models of servers whose address begins with https."""

from embedlab.encoders.endpoint import endpoint_kind

ENCODER = endpoint_kind("https")
