"""The vector of the first token after BERT's own pooler, a linear layer and tanh."""

from embedlab.encoders.pooling import PoolingMethod
from embedlab.encoders.poolings.cls import pool_cls

# The layer follows as a Dense module, which is what a saved model states: the first token, then
# Dense.
POOLING = PoolingMethod(
    pool=pool_cls, is_first_only=True, exported_as="cls", has_pooler=True, saved_as="cls"
)
