#!/usr/bin/python3
"""Runs the notebooks named where they stand and stores what they show, so that a reader who does not run them sees it.
If none is named: all of notebooks/, but those that need a Spark. These run in a Python that has one, as make notebooks does:
$(tests/spark/environment.sh) tools/run_notebooks.py notebooks/9_spark.ipynb. Needs Podere's package in PYTHONPATH. The
program `podere` is the one that the variable PODERE names, or that of the release build."""
import os
import pathlib
import sys

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from traitlets import default

ROOT = pathlib.Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
WITH_SPARK = {"9_spark"}


class OwnKernel(AsyncKernelManager):
    """A kernel in the Python that runs this, whichever ones are installed."""

    @default("kernel_spec_manager")
    def _own_specs(self):
        return KernelSpecManager(kernel_dirs=[])


def is_progress(output):
    """Shown while a cell runs, and only if it runs for long."""
    return output.output_type == "display_data" and "text/html" in output.data


def run(notebook, folder):
    """Runs the cells in `folder`; their outputs, without progress, are in `notebook` afterwards."""
    program = pathlib.Path(os.environ.get("PODERE", ROOT / "build/release/bin/podere"))
    NotebookClient(notebook, timeout=180, kernel_name="python3", kernel_manager_class=OwnKernel, record_timing=False,
                   resources={"metadata": {"path": folder}}).execute(
                       env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not is_progress(output)]


def main():
    others = [path for path in sorted(NOTEBOOKS.glob("*.ipynb")) if path.stem not in WITH_SPARK]
    for path in map(pathlib.Path, sys.argv[1:] or others):
        notebook = nbformat.read(path, as_version=4)
        metadata = notebook.metadata.copy()
        run(notebook, path.parent)
        notebook.metadata = metadata  # without the version of the Python that ran it
        nbformat.write(notebook, path)
        print(f"stored the outputs of {path.name}")


if __name__ == "__main__":
    main()
