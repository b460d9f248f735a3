"""Prints every public class and function of the package stoker that has no docstring of its own; exits with 1 if there
are any. An op of stoker.transforms may go without one where its name is torchvision's.
"""

import inspect
import sys

import stoker

PUBLIC = {f"stoker.{name}": getattr(stoker, name) for name in stoker.__all__}

wrong = [
    name
    for name, value in PUBLIC.items()
    if (inspect.isclass(value) and not value.__dict__.get("__doc__"))
    or (not inspect.isclass(value) and not getattr(value, "__doc__", None))
]
for name in wrong:
    print(f"{name}: no docstring")
sys.exit(1 if wrong else 0)
