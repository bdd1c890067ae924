"""Reports of the work as numbers for programs, as lines for the user, and as pictures. All features
create their reports here."""
