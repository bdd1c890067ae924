"""Options that operators had in version 0.1.0: presets and scripts that set them still run.

Two of the joints have other names now, which take what is set here. The rest has no effect: what
made weights worse are options of the Python module alone, and Hold gave way to the truss. Only
Attach stands for the constraints of the 2018 paper, which it is one of.
"""

from bpy.props import BoolProperty, FloatProperty, StringProperty

_UNSEEN = {"options": {"HIDDEN", "SKIP_SAVE"}, "description": "Of version 0.1.0"}


def _attach_set(properties, _context):
    properties.paper_constraints = properties.attach


def _centring_set(properties, _context):
    properties.centering = properties.centring


def _material_set(properties, _context):
    properties.joint_stiffness = properties.material


class RetiredProperties:
    """To be mixed into an operator with OptionProperties."""

    __annotations__ = {
        "hold": FloatProperty(**_UNSEEN),
        "attach": BoolProperty(update=_attach_set, **_UNSEEN),
        "neumann": BoolProperty(**_UNSEEN),
        "positivity": StringProperty(**_UNSEEN),
        "filter": StringProperty(**_UNSEEN),
        "harmonic": FloatProperty(**_UNSEEN),
        "rotation_clusters": FloatProperty(**_UNSEEN),
    }


class RetiredJointProperties(RetiredProperties):
    """The like, into that of the joints."""

    __annotations__ = {
        "method": StringProperty(**_UNSEEN),
        "centring": FloatProperty(update=_centring_set, **_UNSEEN),
        "material": FloatProperty(update=_material_set, **_UNSEEN),
    }
