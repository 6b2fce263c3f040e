"""`embedlab audit`: which test items a model has read, and what its score owes to them."""

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.reporting import end, show_report
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.audit import AuditOptions

EXAMPLES = examples(
    "embedlab audit minilm --data DIR",
    "embedlab audit snli-supcl --task sts15 --reference dice --placebo wordllama --json",
)


@common("data", "runs", "machine", "output", "latex")
@takes
def audit(options: AuditOptions, *, terminal: Terminal) -> None:
    """Say which test items MODEL has read in training, and what its score owes to them.

    Read are sentences of its runs' training text and of the corpora that its model card states, as
    far as these are in the data folder; what is not there is unknown, not unread.
    """
    from embedlab.workflows.audit import audit_report

    report = audit_report(options, terminal)
    show_report(report, terminal)
    end(report)
