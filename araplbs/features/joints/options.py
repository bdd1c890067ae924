"""Defines the options of Optimize Joints."""

from dataclasses import dataclass

from ...base.option_table import setting
from ...model.options import Options


@dataclass(frozen=True)
class JointOptions(Options):
    """The options for the weights together with the options for the joints.

    JointOptions is a subclass rather than a second table, because optimizing joints includes
    weighting. The operator, the command line, scripts and reports need one flat list of options and
    would otherwise each have to join two tables.
    """

    optimize_weights: bool = setting(
        "JOINTS",
        "optimize_weights",
        "Also Weights",
        "Optimize joints and weights together, and write both. If off, joints are found for the "
        "current weights, which stay unchanged",
    )
    anchor: float = setting(
        "JOINTS",
        "anchor",
        "Anchor",
        "How strongly every joint is pulled toward its old position: 0.3 halves the "
        "movement at the cost of a twentieth of the gain, 0 leaves everything to the "
        "optimization",
        soft_max=2.0,
        default=0.3,
    )
    max_shift: float = setting(
        "JOINTS",
        "max_shift",
        "Max Shift",
        "Maximum distance a joint may move, as a fraction of the mean length of its bones",
        min=0.001,
        max=1e3,
        soft_max=1.0,
    )
    min_length: float = setting(
        "JOINTS",
        "min_length",
        "Minimum Length",
        "Minimum fraction of its length that every bone keeps",
        min=0.01,
        max=0.99,
        advanced=True,
    )
    centering: float = setting(
        "JOINTS",
        "centering",
        "Centering",
        "Pull toward the middle of the limb if the mesh does not determine a joint, such as "
        "between rigid parts. Useful values are 0.001 to 0.01; 0 turns it off",
        soft_max=0.1,
        decimals=4,
        advanced=True,
    )
    joint_stiffness: float = setting(
        "JOINTS",
        "joint_stiffness",
        "Stiffness",
        "Resistance of the joints to movement in each step. Higher values converge more slowly. "
        "Each bone has its own factor",
        max=1e3,
        soft_max=10.0,
        advanced=True,
        engine=(),  # multiplied by the factors of the bones
    )
    joint_iterations: int = setting(
        "JOINTS",
        "iterations",
        "Joint Iterations",
        "Maximum number of iterations; the optimization stops when the error no longer falls",
        max=1000,
        soft_max=100,
        advanced=True,
    )
