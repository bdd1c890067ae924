"""The usual cause of each kind of finding, as a sentence for the user. This module does not use
bpy."""

from __future__ import annotations

from typing import Final

CAUSES: Final = {
    "STRETCH": "Neighboring vertices follow different bones: the border is too sharp",
    "COLLAPSE": "Bones that turn against each other share this skin",
    "BLEEDING": "The parts lie so close together that a bone of one holds the other",
    "DRIFT": "Bones beyond the joint hold too much of this limb",
    "BONE_OUTSIDE": "The joint was placed or imported outside its limb",
    "IDLE_BONE": "Other bones hold all the skin around it",
    "DEAF_BONE": "The bones next to it hold most of its skin",
    "UNWEIGHTED": "They were added later, or removed from all groups",
    "UNNORMALIZED": "Groups were painted without Auto Normalize, or are locked",
    "SPECKLE": "Single strokes or a transfer often leave such vertices",
    "ASYMMETRY": "One side was painted or edited alone",
    "INFLUENCES": "The weights were made for a higher limit, or without one",
    "LOOSE_PART": "It follows other bones than the surface beneath",
    "INTERSECTION": "Skin and cloth follow different bones here",
    "INNER_SHELL": "Generated meshes often have hulls inside: remove what nobody sees",
    "DOUBLE_SHELL": "A copy of the surface was left behind, or is a lining",
    "SPLIT_EDGES": "Exporters split vertices at seams: merge them",
    "ISLANDS": "Generated meshes often leave fragments: remove them",
    "NOISE": "Scans and generated meshes are often this rough: smooth it",
}
