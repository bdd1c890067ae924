"""Draws pictures of a production rig: at rest, and in one pose with bone heat, our weights and the
file's weights, from the side that shows our strain best. The lower row shows a close-up of the
region with the highest strain."""

import numpy as np
from core_modules import add_on
from yardstick import skin

pictures = add_on("reports.pictures")
strain_colors = add_on("measures.strain_colors").strain_colors

WIDTH, HEIGHT = 300, 380  # pixels of a panel
COARSE = 4  # the view is chosen on pictures so much smaller
TURNS, ABOVE = (-38, 52, 142, 232), 12  # degrees: views that are tried
CLOSER = 3.5  # times, in the lower row
AROUND = 9  # pixels of the coarse picture, each way, over which strain is looked for
OFF, BEYOND = 0.03, 0.3  # share of the vertices that may be off, and the size that others may reach
PANELS = {"heat": "Blender's bone heat", "ours": "ours", "file": "its file"}


def picture(arrays, judged, folder):
    """Draws the picture and returns the name of its file."""
    frame, vertices, triangles = judged.worst_pose(), arrays["V"].astype(float), arrays["F"]
    posed, strain = {}, {}
    for way, rows in judged.rows.items():
        if rows.any():
            posed[way] = skin(vertices, rows, judged.poses[frame])
            empty = rows.sum(1) == 0
            posed[way][empty] = vertices[empty]
            strain[way] = _strain(judged.surface, len(triangles), posed[way])
            strain[way][empty[triangles].any(1)] = np.nan
    wide, close = _cameras(posed, strain["ours"], triangles, arrays["to_world"])
    at_rest = pictures.camera_around([_body(vertices, wide.axes)], wide.axes, WIDTH, HEIGHT)
    gray = strain_colors(np.zeros(len(vertices)))
    shown = [way for way in PANELS if way in posed]
    import plots  # which needs matplotlib, as its callers that draw nothing do not

    fig, panels = plots.plt.subplots(
        2, 1 + len(shown), squeeze=False, figsize=((1 + len(shown)) * WIDTH / 100, 2 * HEIGHT / 100)
    )
    panels[0, 0].imshow(pictures.draw(vertices, triangles, gray, at_rest))
    panels[0, 0].set_title("at rest")
    _legend(panels[1, 0])
    for column, way in enumerate(shown, start=1):
        at_vertices = pictures.strain_at_vertices(vertices, triangles, strain[way])
        colors = strain_colors(at_vertices)
        for row, camera in enumerate((wide, close)):
            panels[row, column].imshow(pictures.draw(posed[way], triangles, colors, camera))
        panels[0, column].set_title(_title(judged, way, frame))
    for panel in panels.ravel():
        panel.axis("off")
    return plots.save(fig, folder, f"rig_{judged.name}.png")


def _legend(panel):
    strain = np.linspace(0, 1, 101)
    colors = strain_colors(strain)[:, None].astype(np.uint8)
    panel.imshow(np.tile(colors, (1, 8, 1)), origin="lower", extent=(0, 8, 0, 100))
    for percent in range(0, 101, 20):
        panel.text(12, percent, f"{percent} % strain" if percent == 100 else percent, va="center")
    panel.text(-25, 50, "where ours\nstrains most", ha="center", va="center")
    panel.set_xlim(-50, 50)


def _title(judged, way, frame):
    if judged.strain[way] is None:
        return f"{PANELS[way]}: incomplete"
    area, strain = judged.surface.area, judged.strain[way][frame]
    return f"{PANELS[way]}: {100 * np.sqrt((strain * area).sum() / area.sum()):.0f} %"


def _strain(surface, count, points):
    """(triangles,) strain, 0 for triangles without area."""
    strain = np.zeros(count)
    strain[surface.kept] = np.sqrt(surface.strain2(points))
    return strain


def _cameras(posed, strain, triangles, to_world):
    """A camera that shows everything from the side that shows our strain best, and one close to the
    highest strain."""
    best = None
    for turn in TURNS:
        axes = pictures.view_axes(turn, ABOVE, to_world)
        clouds = [_body(points, axes) for points in posed.values()]
        wide = pictures.camera_around(clouds, axes, WIDTH, HEIGHT)
        coarse = pictures.Camera(
            axes, wide.center, wide.scale / COARSE, WIDTH // COARSE, HEIGHT // COARSE
        )
        seen = _around(_seen(posed["ours"], strain, triangles, coarse))
        if best is None or seen.max() > best[0]:
            best = seen.max(), wide, coarse, np.unravel_index(seen.argmax(), seen.shape)
    _most, wide, coarse, (row, column) = best
    off = np.array([column + 0.5, row + 0.5]) - np.array([coarse.width, coarse.height]) / 2
    center = wide.center + off * np.array([1, -1]) / coarse.scale
    return wide, pictures.Camera(wide.axes, center, wide.scale * CLOSER, WIDTH, HEIGHT)


def _body(points, axes):
    """The meshes that are not far from most others, unlike a prop that an animation has moved
    away."""
    seen = points @ axes[:2].T
    low, high = np.percentile(seen, [100 * OFF, 100 * (1 - OFF)], axis=0)
    near = (high - low) * BEYOND
    return points[((seen > low - near) & (seen < high + near)).all(1)]


def _seen(points, strain, triangles, camera):
    """(height, width) the strain of the visible surface."""
    xy, depths = camera.project(points)
    triangle, *_ = pictures.rasterize(xy, depths, triangles, camera.width, camera.height)
    strain = np.append(np.minimum(np.nan_to_num(strain), 1), 0)
    return strain[triangle]  # the last for nothing


def _around(image):
    """Sums over squares."""
    sums = np.cumsum(np.cumsum(np.pad(image, AROUND), 0), 1)
    size = 2 * AROUND - 1
    whole = sums[size:, size:] - sums[:-size, size:] - sums[size:, :-size] + sums[:-size, :-size]
    return whole[: image.shape[0], : image.shape[1]]
