"""Work on weights other than solving for them: transfer, clearance of garments, baking, quantizing.
One file per tool."""
