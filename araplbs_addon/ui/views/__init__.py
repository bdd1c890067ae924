"""Drawings over the 3D view, the brushes in its toolbar, the way to the manual. Views only look at
data and sessions; their computations run in a thread."""
