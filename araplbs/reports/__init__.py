"""Reports results as numbers for programs, as lines for the user, and as pictures. All features
create their reports with this code."""
