"""Touch Up locks vertex groups by the selected bones and changes how far one bone reaches."""
