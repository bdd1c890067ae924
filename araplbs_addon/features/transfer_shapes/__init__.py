"""Transfer Shape Keys: shapes of one mesh
for others on it."""
