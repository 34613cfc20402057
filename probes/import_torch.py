"""Does torch load, how was it built, and which libraries did it map?"""


def run(report, options, state):
    """Stage ``import``: imports torch and describes the build without touching a device."""
    report.step("import torch")
    try:
        import torch
    except BaseException as error:
        report.result("failed", why_not(error), error)
        return
    report.data(path=getattr(torch, "__file__", None) or [str(p) for p in torch.__path__])
    report.data(version=str(torch.__version__), cuda=torch.version.cuda, hip=torch.version.hip)
    report.result("passed", built_for=built_for(torch))
    state["torch"] = torch


def why_not(error):
    """The reason for a failed import: torch is absent, does not load, or raised of itself."""
    if isinstance(error, ModuleNotFoundError) and error.name == "torch":
        return "not-installed"
    if isinstance(error, (ImportError, OSError)):
        return "does-not-load"
    return "raised"


def built_for(torch):
    """The back end that this torch was built for: cuda, rocm or cpu."""
    if getattr(torch.version, "hip", None):
        return "rocm"
    return "cuda" if getattr(torch.version, "cuda", None) else "cpu"
