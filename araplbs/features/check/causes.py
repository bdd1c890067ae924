"""States the usual cause of each kind of finding in a sentence for the user. This module does not
use bpy."""

from __future__ import annotations

from typing import Final

CAUSES: Final = {
    "STRETCH": "Neighboring vertices follow different bones: the border is too sharp",
    "COLLAPSE": "Bones that rotate in opposite directions share this skin",
    "BLEEDING": "The parts lie so close together that the bone of one part moves the other",
    "OVERREACH": "Skin that moves along with a limb stretches less, so the limb took it",
    "DRIFT": "Bones beyond the joint have too much weight in this limb",
    "BONE_OUTSIDE": "The joint was placed or imported outside its limb",
    "IDLE_BONE": "Other bones move all the skin around this bone",
    "DEAF_BONE": "The neighboring bones move most of this bone's skin",
    "UNWEIGHTED": "The vertices were added later, or removed from all groups",
    "UNNORMALIZED": "Groups were painted without Auto Normalize, or are locked",
    "SPECKLE": "Single brush strokes or a transfer often leave such vertices",
    "ASYMMETRY": "One side was painted or edited alone",
    "INFLUENCES": "The weights were computed for a higher limit, or without a limit",
    "LOOSE_PART": "The part follows different bones than the surface beneath it",
    "DOUBTFUL_PART": "Both bones lie close to the part, and the surface follows both of them",
    "INTERSECTION": "Skin and cloth follow different bones here",
    "INNER_SHELL": "Generated meshes often contain hidden hulls: remove them",
    "DOUBLE_SHELL": "The surface has a leftover copy or a lining",
    "SPLIT_EDGES": "Exporters split vertices at seams: merge them",
    "ISLANDS": "Generated meshes often leave fragments: remove them",
    "NOISE": "Scans and generated meshes are often this rough: smooth it",
}
