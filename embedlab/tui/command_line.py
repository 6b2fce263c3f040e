"""The words of the embedlab commands that the dashboard starts, so that they see the settings it sees."""

from embedlab.core.settings import Settings


def shared_flags(settings: Settings) -> list[str]:
    """The common options under which a process works on the same data and runs."""
    flags = ["--runs", str(settings.runs), "--device", settings.device, "--precision", settings.precision]
    if settings.data is not None:
        flags += ["--data", str(settings.data)]
    if settings.threads is not None:
        flags += ["--threads", str(settings.threads)]
    switches = {"--sample": settings.sample, "--offline": settings.offline, "--allow-partial": settings.allow_partial}
    return [*flags, *(flag for flag, is_on in switches.items() if is_on)]
