"""Preview Deformer draws over the mesh, follows the pose, and disappears."""

import bpy
import numpy as np
import scenes
from driver import Draws, clear, looks, newest_only, open_sidebar, show, wait_until


def green(path):
    """The number of pixels in a picture that have the color of Centers of Rotation."""
    image = bpy.data.images.load(str(path))
    pixels = np.array(image.pixels[:]).reshape(-1, 4)
    bpy.data.images.remove(image)
    red, own, blue = pixels[:, :3].T
    return np.count_nonzero((own > 1.3 * red) & (own > 1.3 * blue) & (own > 0.2))


@looks
def test_the_preview_is_drawn_follows_and_goes(ui):
    newest_only()
    clear()
    tube, rig = scenes.tube_and_rig()
    scenes.auto_weight(tube, rig)
    scenes.select(tube)
    bones = rig.pose.bones
    for name in ("middle", "upper"):
        bones[name].rotation_mode = "XYZ"
        bones[name].rotation_euler = 0.7, 0.9, 0
    view, manager = scenes.addon("operators.deformer_view").view, bpy.context.window_manager
    with Draws() as draws:
        yield from open_sidebar(ui)
        show(ui)
        yield 8
        before = green(ui.picture("deformer-off", needed=True))
        manager.araplbs_deformer = "CENTERS"
        yield from wait_until(lambda: view.result is not None and view._batch is not None)
        yield 8
        assert view.message is None
        assert green(ui.picture("deformer-centers", needed=True)) > before + 2000
        first = view.result.copy()
        bones["upper"].rotation_euler.x = 1.4
        yield from wait_until(lambda: np.abs(view.result - first).max() > 0.01)
        yield 5
        assert green(ui.picture("deformer-posed", needed=True)) > before + 2000
        manager.araplbs_deformer = "NONE"
        yield from wait_until(lambda: view.result is None)
        yield 8
        assert green(ui.picture("deformer-gone", needed=True)) < before + 200
    assert draws.drawn
