"""Lets artists paint required weights, links and rigid parts with brushes."""
