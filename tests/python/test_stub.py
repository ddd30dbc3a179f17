"""The stub of the C++ below the package says what is there."""
import ast
import inspect
import pathlib
import re

from podere import _core

STUB = pathlib.Path(_core.__file__).parent / "_core.pyi"


def arguments(function):
    """Names of the arguments that pybind11 writes into the documentation, the same in all overloads; self is left out."""
    signature = next(line for line in function.__doc__.splitlines() if ") -> " in line)
    inside = signature[signature.index("(") + 1:signature.rindex(") -> ")]
    while inside != (inside := re.sub(r"\[[^\[\]]*\]", "", inside)):
        pass  # what is in brackets is of types
    return [name for name in re.findall(r"(\w+): ", inside) if name != "self"]


def stub_arguments(function):
    return [argument.arg for argument in function.args.args if argument.arg != "self"]


def members(node):
    return {child.name: child for child in node.body if isinstance(child, (ast.FunctionDef, ast.ClassDef))}


def test_the_stub_names_what_the_module_has():
    stub = ast.parse(STUB.read_text())
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}

    def inherited(node):
        """Members of a class and of its bases, of which those with an underscore are in the stub alone."""
        found = members(node)
        for base in node.bases:
            found = {**inherited(classes[base.id]), **found}
        return found

    functions = {name: node for name, node in members(stub).items() if not name.startswith("_")}
    assert sorted(functions) == sorted(name for name in vars(_core) if not name.startswith("__"))
    for name, node in functions.items():
        real = getattr(_core, name)
        if isinstance(node, ast.FunctionDef):
            assert stub_arguments(node) == arguments(real), name
            continue
        own = inherited(node)
        assert sorted(own) == sorted(
            member for member in vars(real) if not member.startswith("__") or member == "__init__" and "__init__" in own)
        for member, function in own.items():
            value = inspect.getattr_static(real, member)
            if not isinstance(value, property):
                assert stub_arguments(function) == arguments(getattr(real, member)), f"{name}.{member}"
