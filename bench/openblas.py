"""OpenBLAS at its best on this machine, for benches beside programs that use it."""
import functools
import os
import subprocess


def product_rate(cores, kernel=None):
    """GFLOP/s of a large float32 matrix product with so many threads; 0 if this processor cannot do it so.

    kernel: variables of OpenBLAS that choose its kernels [the quickest found].
    """
    code = ("import numpy, time\na = numpy.random.rand(2048, 2048).astype('f')\nbest = 9e9\n"
            "for _ in range(9):\n    t = time.perf_counter(); a @ a; best = min(best, time.perf_counter() - t)\n"
            "print(2 * 2048**3 / best / 1e9)")
    environment = {**os.environ, **(quickest_kernel() if kernel is None else kernel), "OPENBLAS_NUM_THREADS": str(cores)}
    result = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, env=environment)
    return float(result.stdout) if result.returncode == 0 else 0.0


@functools.cache
def quickest_kernel():
    """The environment that makes OpenBLAS quickest: of processors newer than itself it may take the slowest of its kernels."""
    choices = [{}] + [{"OPENBLAS_CORETYPE": name} for name in ("Haswell", "SkylakeX", "Zen")]
    return max(choices, key=lambda choice: product_rate(1, choice))
