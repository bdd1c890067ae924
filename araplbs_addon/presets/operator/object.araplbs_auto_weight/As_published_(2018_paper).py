import bpy

op = bpy.context.active_operator

op.max_influences = 0
op.truss = 0.0
op.kept_sum = 0.95
op.relative = 0.05
op.least_worth = 0.00003
op.edge_power = 0.0
op.widenings = 0
op.paper_constraints = True
op.symmetric = False
op.control_bones = "INCLUDE"
op.rigid_parts = "MARKED"
