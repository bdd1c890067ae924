import bpy

op = bpy.context.active_operator

op.max_influences = 0
op.truss = 8.0
op.kept_sum = 0.999
op.relative = 0.001
op.least_worth = 0.001
op.edge_power = 3.0
op.widenings = 2
op.paper_constraints = False
op.symmetric = True
op.control_bones = "LEAVE_OUT"
op.rigid_parts = "DETECTED"
