"""Prints every public class and function of stoker and stoker.transforms that has no docstring of its own; exits with 1 if
there are any.
"""

import inspect
import sys

import stoker
import stoker.ray

PUBLIC = {
    **{f"stoker.{name}": getattr(stoker, name) for name in stoker.__all__},
    **{f"stoker.transforms.{name}": getattr(stoker.transforms, name) for name in stoker.transforms.__all__},
    **{f"stoker.ray.{name}": getattr(stoker.ray, name) for name in stoker.ray.__all__},
}

wrong = [
    name
    for name, value in PUBLIC.items()
    if (inspect.isclass(value) and not value.__dict__.get("__doc__"))
    or (not inspect.isclass(value) and not getattr(value, "__doc__", None))
]
for name in wrong:
    print(f"{name}: no docstring")
sys.exit(1 if wrong else 0)
