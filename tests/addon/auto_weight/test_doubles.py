"""The bones of a backpack coincide with bones of the body in a production file."""

import pytest
from paths import RIGS, shared_file
from scenes import auto_weight, select, weights
from test_rigs_table import opened


@pytest.mark.slow
def test_backpack_and_body_share_no_bones():
    rig, meshes = opened(shared_file(RIGS, "lc_seven.blend"))
    for group in [g for g in meshes[0].vertex_groups if g.name in rig.data.bones]:
        meshes[0].vertex_groups.remove(group)
    select(*meshes, rig)
    auto_weight(pose_count=8)
    names = [g.name for g in meshes[0].vertex_groups if g.name in rig.data.bones]
    found = weights(meshes[0], names)
    pack = [name.startswith("bp_") for name in names]
    on_pack = found[:, pack].sum(1)
    assert ((on_pack < 1e-6) | (on_pack > 1 - 1e-6)).all()
    assert 800 < (on_pack > 0.5).sum() < 900
    assert found[:, names.index("bp_spine_03")].sum() > 300
