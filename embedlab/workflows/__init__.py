"""What a user asks for, from its arguments to a result, without a terminal."""
