"""How a number of a slice is called: by the slice and its metric, and the slice alone."""


class NamedSlice:
    """What has a key and a title that end in the metric."""

    key: str
    title: str
    metric: str

    @property
    def slice_key(self) -> str:
        """The key of the slice itself."""
        return self.key.removesuffix(f" {self.metric}")

    @property
    def slice_title(self) -> str:
        """The title of the slice itself."""
        return self.title.removesuffix(f" {self.metric}")
