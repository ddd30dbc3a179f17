#!/usr/bin/env python3
"""Holds that no modules of a Python package import one another in a circle: check_imports.py [package].

The package is python/podere unless another folder is named. All imports count, those in functions and those for types
alone too. Prints each circle with the import that closes it, as file:line: what.
"""
import ast
import sys
from collections.abc import Iterator
from pathlib import Path

Imports = dict[str, dict[str, int]]  # of each module, those that it imports, each with its line


def modules_of(package: Path) -> dict[str, Path]:
    """Files by the names of the modules, which begin with that of the package. A module in C++ is its stub."""
    found = {}
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(node: ast.AST, package: str) -> Iterator[str]:
    """What a statement may import; of `from a import b` both a.b, which may be a module, and a. `package` is what dots
    begin from."""
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names)
    elif isinstance(node, ast.ImportFrom):
        parts = package.split(".")[:len(package.split(".")) + 1 - node.level] if node.level else []
        base = ".".join([*parts, *([node.module] if node.module else [])])
        yield from (f"{base}.{name.name}" for name in node.names)
        yield base


def read_imports(modules: dict[str, Path]) -> Imports:
    imports: Imports = {}
    for module, path in modules.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        own = imports[module] = {}
        for node in ast.walk(ast.parse(path.read_text(), str(path))):
            names = list(imported(node, package))
            for name in names:
                # Of `from . import _core` it is the module that counts, and not the package around it.
                is_around = any(other.startswith(f"{name}.") and other in modules for other in names)
                if name in modules and name != module and not is_around:
                    own.setdefault(name, node.lineno)
    return imports


def circles(imports: Imports) -> Iterator[list[str]]:
    """Each circle that a walk through the imports closes, as modules of which each imports the next."""
    done: set[str] = set()

    def walk(module: str, way: list[str]) -> Iterator[list[str]]:
        if module in way:
            yield way[way.index(module):]
        elif module not in done:
            for used in imports[module]:
                yield from walk(used, [*way, module])
            done.add(module)

    for module in imports:
        yield from walk(module, [])


def main() -> int:
    package = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "python" / "podere"
    modules = modules_of(package)
    imports = read_imports(modules)
    found = False
    for circle in circles(imports):
        found = True
        line = imports[circle[-1]][circle[0]]
        print(f"{modules[circle[-1]].relative_to(package.parent)}:{line}: imports in a circle: {' > '.join([*circle, circle[0]])}")
    if not found:
        print(f"check_imports: no circles among the {len(modules)} modules of {package.name}")
    return found


if __name__ == "__main__":
    sys.exit(main())
