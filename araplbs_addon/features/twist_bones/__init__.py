"""Add Twist Bones gives limbs bones that take half of their twist, and Remove Twist Bones merges
them into their limbs again."""
