"""The two additional layers that chen puts between a sentence vector and a task, and which tasks may share."""

from torch import Tensor, nn

from embedlab.objectives.heads import Layers


class TaskLayers(nn.Module):
    """Dropout, linear, ReLU, dropout, linear, all as wide as the vector; chen does not name the activation."""

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.first = nn.Linear(dim, dim)
        self.activation = nn.ReLU()
        self.dropout = nn.Dropout(dropout)
        self.second = nn.Linear(dim, dim)

    def forward(self, vectors: Tensor) -> Tensor:
        """Transformed vectors; (sentences, dim) in and out."""
        transformed: Tensor = self.second(self.dropout(self.activation(self.first(self.dropout(vectors)))))
        return transformed


def task_layers(kind: Layers, dim: int, dropout: float) -> nn.Module:
    """The additional layers of a task's head; with "none" the vectors go on as they are."""
    return TaskLayers(dim, dropout) if kind == "two-layer" else nn.Identity()
