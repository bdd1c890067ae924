"""What is drawn over the 3D view, the brushes in its toolbar, the way to the manual.
Views only look at data and sessions; what they compute they compute in a thread."""
