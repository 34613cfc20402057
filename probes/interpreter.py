"""Which Python does the program run in, and what does it load from where?"""

import os
import site
import sys
from importlib.machinery import PathFinder

NAMES_LIMIT = 256
# Loaded before the program's directory comes on the path, or too common to mean anything.
HARMLESS = {"abc", "codecs", "encodings", "genericpath", "io", "os", "posixpath", "site", "stat"}
HARMLESS |= {"build", "conftest", "dist", "docs", "examples", "setup", "test", "tests", "this"}


def run(report, options, state):
    """Stage ``interpreter``: what the running interpreter says about itself.

    ``options["workdir"]`` is the directory that the user's program is started from.
    """
    report.step("describe the interpreter")
    report.data(
        executable=sys.executable,
        version="%d.%d.%d" % sys.version_info[:3],
        implementation=sys.implementation.name,
        prefix=sys.prefix,
        base_prefix=sys.base_prefix,
        path=sys.path[:64],
        flags=flags(),
    )
    report.step("look for the user's package directory")
    report.data(usersite=site.getusersitepackages(), usersite_enabled=bool(site.ENABLE_USER_SITE))
    report.data(customized=customized())
    report.step("look for namesakes in the working directory")
    report.result("passed", shadowed=shadowed(options.get("workdir")))


def flags():
    """The interpreter's flags that are not at their default 0, by name (-S is ``no_site``)."""
    names = [name for name in dir(sys.flags) if not name.startswith(("_", "n_"))]
    values = {name: getattr(sys.flags, name) for name in names}
    return {name: value for name, value in values.items() if value and not callable(value)}


def customized():
    """The files of ``sitecustomize`` and ``usercustomize``, which ran before this program."""
    modules = [sys.modules.get(name) for name in ("sitecustomize", "usercustomize")]
    return [str(getattr(module, "__file__", None)) for module in modules if module is not None]


def shadowed(workdir):
    """Names of modules in ``workdir`` that hide another module of that name on the path.

    A directory without ``__init__.py`` hides nothing, and a project that is installed in place
    is no namesake of itself.
    """
    if not workdir:
        return []
    try:
        entries = sorted(os.listdir(workdir))
    except OSError:
        return []
    names = sorted({entry.split(".")[0] for entry in entries})
    path = [place for place in sys.path if place and not same(place, workdir)]
    hidden = []
    for name in [one for one in names if one.isidentifier()][:NAMES_LIMIT]:
        if name in HARMLESS or name in sys.builtin_module_names or name.startswith("_"):
            continue
        try:
            local = PathFinder.find_spec(name, [workdir])
            # a directory without __init__.py has no loader, or one of its own without an origin
            if local is None or not local.origin:
                continue
            other = PathFinder.find_spec(name, path)
        except Exception:  # a name that a strange path hook stumbles over
            other = None
        if other is not None and not (other.origin and same(other.origin, local.origin)):
            hidden.append(name)
    return hidden


def same(one, other):
    """Whether two paths are one file, links followed."""
    return os.path.realpath(one) == os.path.realpath(other)
