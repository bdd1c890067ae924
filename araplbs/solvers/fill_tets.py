"""Fills a closed surface with tets. A separate program is necessary because TetGen may end the
process in which it runs, and leaves files in the working directory.

fill_tets IN.npz OUT.npz     IN: points (n, 3), faces (f, 3); OUT: nodes, tets (t, 4)

If TetGen refuses, the exit code is 2, and one line is printed.
"""

import sys

import numpy as np
import tetgen

QUALITY = 1.4  # largest ratio of circumradius to shortest edge


def main(source: str, target: str) -> int:
    given = np.load(source)
    mesh = tetgen.TetGen(given["points"], given["faces"])
    try:
        # No vertices are added to the surface, because its weights should be those of the tets.
        nodes, tets = mesh.tetrahedralize(minratio=QUALITY, nobisect=True)[:2]
    except RuntimeError as error:
        print(str(error).strip().splitlines()[0], file=sys.stderr)
        return 2
    np.savez(target, nodes=nodes, tets=tets)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
