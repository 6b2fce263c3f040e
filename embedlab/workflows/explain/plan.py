"""What is explained of two sentences; options that contradict each other are refused before any
work.
"""

from embedlab.choices import EDIT_RULES
from embedlab.core.errors import UsageError
from embedlab.core.nearest import unknown
from embedlab.data.words import shown_words
from embedlab.models.catalog import ModelSpec
from embedlab.models.encoder_kind import encoder_kind
from embedlab.workflows.options.explain import ExplainOptions

DEFAULT_REFERENCE = "starter"  # the pairs inside embedlab


def check_options(options: ExplainOptions) -> None:
    """Refuse sentences without a word, and options of another view."""
    for sentence in (options.first, options.second):
        if not shown_words(sentence):
            raise UsageError(
                f"{sentence!r} has no word to leave out", hint="give two sentences in quotes"
            )
    if options.view == "tokens" and (
        options.instead or options.edits or options.reference is not None
    ):
        option = "instead" if options.instead else "edit" if options.edits else "reference"
        raise UsageError(
            f"option {option} is for the view 'effects', where words are left out",
            hint="remove one of the two options",
        )
    if wrong := next((rule for rule in options.edits if rule not in EDIT_RULES), None):
        raise unknown("rule of edits", wrong, EDIT_RULES)


def check_member(spec: ModelSpec) -> None:
    """Refuse a model that has no similarity of sentences without one of their words."""
    for part in spec.parts:
        check_member(part)
    if spec.is_fitted:
        raise UsageError(
            f"{spec.name!r} is whitened by the sentences that are scored: variants of two "
            f"sentences are too few for that",
            hint="whiten it by a file: @whiten=FILE",
        )
    if spec.is_prefixed and encoder_kind(spec.kind).backend == "file":
        what = "vectors" if encoder_kind(spec.kind).has_vectors else "scores"
        raise UsageError(
            f"{spec.name!r} has the {what} that a file holds: none of the sentences without "
            f"one of their words",
            hint="name the model itself, which can compute them",
        )
    if spec.kind == "ensemble":
        raise UsageError(
            f"{spec.name!r} has no vectors: it averages predictions",
            hint="average:a,b averages vectors",
        )
