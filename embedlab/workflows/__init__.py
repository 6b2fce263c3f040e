"""What a user can do, each from its options to a result, without a terminal."""
