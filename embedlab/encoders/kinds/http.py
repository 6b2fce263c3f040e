"""Models of servers whose address begins with http."""

from embedlab.encoders.endpoint import endpoint_kind

ENCODER = endpoint_kind("http")
