"""Reports of the work, as numbers for programs, as lines for people, and as pictures. All features
make their reports here."""
